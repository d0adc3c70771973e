"""Which devices a user sees, and what else a user may do."""
