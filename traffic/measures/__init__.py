"""Measures: what is counted and timed in a world, and the tables of it."""
