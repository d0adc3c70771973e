"""Programs that put a server under load, each run in a separate process."""
