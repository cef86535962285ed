"""The state of a simulation, and the frame that steps it. What commands, measures or records stands elsewhere."""
