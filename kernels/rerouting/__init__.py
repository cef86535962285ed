"""Who is stuck, who waits for whom in a ring, and other ways for drivers on the road."""
