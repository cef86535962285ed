"""Ground as cells, and ways over it; for bodies that leave the lanes."""
