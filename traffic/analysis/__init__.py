"""What run files tell analysts: exports, statistics, differences between runs."""
