"""Teltonika trackers (docs/protocols/teltonika.md)."""
