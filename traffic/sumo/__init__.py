"""What SUMO's files say besides the network: demand, detectors, closures, configurations."""
