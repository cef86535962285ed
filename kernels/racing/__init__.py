"""Races: paths of many racers over a grid, and cars that race each other on a track. No traffic."""
