"""Live streams, playbacks, captures and snapshots."""
