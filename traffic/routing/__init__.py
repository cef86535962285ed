"""Routes: the ways of trips, found before they depart and changed on the road."""
