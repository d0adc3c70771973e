"""Checks that what was received is what was sent."""
