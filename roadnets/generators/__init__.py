"""Generated networks: grids, rings, motorways, webs, towns."""
