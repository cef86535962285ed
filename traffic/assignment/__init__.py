"""Dynamic user equilibrium by simulation, iterated (docs/assign.md)."""
