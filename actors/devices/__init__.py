"""Devices: their state, commands and positions, and the directory of all of them."""
