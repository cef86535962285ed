"""Curves, bends and poses, of whatever lies along them. No vehicles that decide."""
