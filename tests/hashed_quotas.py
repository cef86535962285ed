"""Step a world whose quotas all bind and print its state hash; run in a process of its own, for its threads."""

import json

from resumed_worlds import quotas

if __name__ == "__main__":
    world = quotas()
    world.step(120)
    print(world.state_hash(), json.dumps(world.quotas()))
