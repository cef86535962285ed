"""Bodies with wheels and what steers them: pedals and a wheel in, a path followed."""
