"""Vehicles made ready for pictures and for other engines. Nothing here is read by traffic."""
