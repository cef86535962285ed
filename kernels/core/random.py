"""Counter-based random numbers: a hash of (seed, a, b, stream), the same on any thread."""

from math import cos, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix(x: np.uint64) -> np.uint64:
    """The finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * _MIX1
    x = (x ^ (x >> np.uint64(27))) * _MIX2
    return x ^ (x >> np.uint64(31))


@kernel
def random_bits(seed: int, a: int, b: int, stream: int) -> np.uint64:
    """64 random bits."""
    x = mix(np.uint64(seed) + _GOLDEN)
    x = mix(x ^ (np.uint64(a) + _GOLDEN))
    x = mix(x ^ (np.uint64(b) + _GOLDEN))
    return mix(x ^ (np.uint64(stream) + _GOLDEN))


@kernel
def uniform(seed: int, a: int, b: int, stream: int) -> float:
    """Uniform in [0, 1)."""
    return float(random_bits(seed, a, b, stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def normal(seed: int, a: int, b: int, stream: int) -> float:
    """Standard normal (Box-Muller on two draws of neighbouring streams)."""
    u = uniform(seed, a, b, stream)
    w = uniform(seed, a, b, stream + 1000003)
    return sqrt(-2.0 * log(1.0 - u)) * cos(2.0 * pi * w)


@kernel
def uniform_all(seed: int, a: NDArray[np.int64], b: int, stream: int) -> NDArray[np.float64]:
    """`uniform` for every a, shape of a."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        out[i] = uniform(seed, a[i], b, stream)
    return out
