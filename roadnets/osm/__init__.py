"""OpenStreetMap: from a map file to the draft of a lane network."""
