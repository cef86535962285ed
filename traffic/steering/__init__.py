"""Steered vehicles as users name them: classes of bodies, ways to drive, paths."""
