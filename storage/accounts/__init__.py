"""Users, sessions, tokens, and which devices a user sees."""
