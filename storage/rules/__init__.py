"""Stored input for evaluating the rules of positions and timed events."""
