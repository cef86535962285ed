"""rushhour: the traffic of a whole city on an ordinary computer."""
