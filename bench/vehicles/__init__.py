"""Simulated vehicles: how they drive, report, film and obey."""
