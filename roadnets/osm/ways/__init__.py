"""What an OpenStreetMap file says: its nodes, its ways, and what their tags mean."""
