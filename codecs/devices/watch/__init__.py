"""Watches (docs/protocols/watch.md)."""
