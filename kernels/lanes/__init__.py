"""Which lane a driver wants, changes to, or passes on. Turns out of a wrong lane are in `junctions`."""
