"""Ways over the graph of roads, and what a driver plans of its own way. Why it takes another one is in `rerouting`."""
