"""What a world tells whoever asks: lanes, trips, vehicles, totals. Reading changes nothing."""
