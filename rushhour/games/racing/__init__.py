"""Races: courses and tracks, generated paths, cars against each other, race files."""
