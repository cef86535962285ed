"""The frame's two phases of motion: everybody's acceleration, from all that is ahead, and where it takes them."""
