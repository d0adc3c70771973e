"""Simulated vehicles: driving, reporting, video and commands."""
