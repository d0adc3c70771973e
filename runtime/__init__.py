"""Actors on Trio: mailboxes, supervision, timers, topics. Knows nothing of fleets."""
