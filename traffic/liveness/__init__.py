"""What keeps traffic going, and says when it does not: rings of waiting, standstill."""
