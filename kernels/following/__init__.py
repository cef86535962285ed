"""What one driver may do behind another, in bends and at a halt, as laws of numbers. Who heeds what at once is in `driving`."""
