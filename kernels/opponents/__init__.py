"""Opponents in a city: where they want to go, how they get there, whom they run into."""
