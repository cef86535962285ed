"""The programming interfaces of other simulators over rushhour's worlds."""
