"""Lint: what looks wrong in a finished network, and the report of it."""
