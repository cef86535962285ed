"""Traffic: demand, the world that steps it, recording."""
