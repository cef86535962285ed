"""Step a world whose trips choose their ways, print its state hash; a process for its threads."""

import sys

from resumed_worlds import new_world

if __name__ == "__main__":
    for kind in ("choosing", "choosing few"):
        world = new_world(kind)
        world.step(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
        print(world.state_hash(), world.rerouting(), world.quotas())
