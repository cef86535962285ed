"""Street graphs of osmnx and NetworkX."""
