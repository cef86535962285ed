"""Pictures and films of runs. Imported by no other room."""
