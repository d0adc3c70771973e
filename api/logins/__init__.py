"""Who sent a request: credentials, sessions, passwords, and what else a login checks."""
