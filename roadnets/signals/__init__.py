"""Signals of any network: programs, greens, detectors."""
