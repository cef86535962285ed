"""What an engine that runs our traffic takes from it, and puts into it."""
