"""Street plans: corners joined by streets, and the lanes, turns and signals that they get."""
