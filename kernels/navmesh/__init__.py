"""Ground as triangles: who stands where, and ways over it."""
