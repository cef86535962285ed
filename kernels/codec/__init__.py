"""Frames as streams of bits, and rows as text. No files, and nothing of what the numbers mean to traffic."""
