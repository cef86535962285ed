"""Commands: the ways to change a running world from outside."""
