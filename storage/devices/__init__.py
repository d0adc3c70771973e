"""Devices, groups, positions, queued commands, and links between rows."""
