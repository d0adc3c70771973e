"""Meitrack trackers (docs/protocols/meitrack.md)."""
