"""Opponents of a chase: what they see, want and do. They use traffic, which knows nothing of them."""
