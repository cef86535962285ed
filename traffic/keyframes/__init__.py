"""The complete state of a world: taken, brought back, hashed. Its file is in `recording`."""
