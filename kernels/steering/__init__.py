"""Bodies with wheels and what steers them: pedals and a wheel in, a path followed. Who may go is decided before."""
