"""Postal addresses of coordinates."""
