"""Positions as files that other programs read; no request, clock or SQL."""
