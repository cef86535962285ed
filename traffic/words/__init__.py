"""Times, counts and places as people write and read them."""
