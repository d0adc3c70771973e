"""Ruptela: trackers of the FM, Eco4, Pro4, HCV and LCV series (docs/protocols/ruptela.md)."""
