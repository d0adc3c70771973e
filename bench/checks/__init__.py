"""Whether what was received is what was sent."""
