"""A chase through traffic: opponents, their target, its rules and its file."""
