"""Environments for reinforcement learning; they need the extra `rl` (docs/learning.md)."""
