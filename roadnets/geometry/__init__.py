"""Lines, outlines and projections."""
