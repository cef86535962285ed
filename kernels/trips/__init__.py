"""How trips begin, and what vehicles are told from outside. How they go on is in `driving`."""
