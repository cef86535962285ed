"""The checker's own view of a frame, and what it finds wrong. It uses no result of the rules that it checks."""
