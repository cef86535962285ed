"""Several environments at once, in this process or in others."""

from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv


def side_by_side(
    make: Callable[[], gymnasium.Env[Any, Any]], n: int, *, processes: bool = False
) -> VectorEnv[Any, Any, Any]:
    """n environments as one of gymnasium's vector environments.

    make: makes one; with processes each is made in a process of its own, which is started afresh
    (`spawn`) and compiles nothing that is in the cache, so no world is ever pickled. As always with
    `spawn`, the script that starts them does so below `if __name__ == "__main__"`.

    >>> envs = side_by_side(lambda: SignalEnv(network, demand), 4)
    >>> seen, infos = envs.reset(seed=[1, 2, 3, 4])
    """
    if processes:
        return AsyncVectorEnv([make] * n, context="spawn")
    return SyncVectorEnv([make] * n)
