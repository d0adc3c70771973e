"""Programs that put a server under load, each run in a process of its own."""
