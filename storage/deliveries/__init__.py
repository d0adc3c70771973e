"""What leaves the system at least once."""
