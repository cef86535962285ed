"""Who may enter an intersection: requests, gaps, room beyond, grants and taking them back. Not how they drive there."""
