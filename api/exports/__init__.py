"""Positions as files that other programs read, and the archive of a backup; no request, clock or SQL."""
