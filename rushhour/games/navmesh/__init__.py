"""Ground that can be driven on, as polygons: building it from a network, and asking it."""
