"""Scenarios: what to run, opened and run to its end."""
