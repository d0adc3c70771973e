"""How work is queued, batched, repeated, limited and cached."""
