"""Events that come at an instant, without a position."""
