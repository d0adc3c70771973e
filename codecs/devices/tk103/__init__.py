"""TK103 trackers (docs/protocols/tk103.md)."""
