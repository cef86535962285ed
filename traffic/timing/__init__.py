"""Timing of fixed-time signals for a demand: turning flows, splits and cycles, offsets, what they bring."""
