"""Networks drawn by hand: `NetworkBuilder`, and what becomes of a sketch."""
