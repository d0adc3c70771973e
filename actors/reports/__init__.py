"""What reports say, computed from stored positions and events (docs/reports.md)."""
