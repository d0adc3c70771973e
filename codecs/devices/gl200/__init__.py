"""Queclink trackers of the protocol @Track (docs/protocols/gl200.md)."""
