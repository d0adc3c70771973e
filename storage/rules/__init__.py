"""What the rules of positions and timed events are evaluated from."""
