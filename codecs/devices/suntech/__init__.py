"""Suntech trackers (docs/protocols/suntech.md)."""
