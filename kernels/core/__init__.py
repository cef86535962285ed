"""The state that all rooms share, as kernels see it, its order in the lanes, random numbers. No rules of driving."""
