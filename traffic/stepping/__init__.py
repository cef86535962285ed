"""What surrounds a frame: threads, forks, loops over frames, what phases cost. The frame itself is in `sim`."""
