"""The rules that make positions and events: pure functions, called in order by `fold.py`."""
