"""Bodies from outside, which no demand has (players, pedestrians, cars of another engine), and how drivers heed them."""
