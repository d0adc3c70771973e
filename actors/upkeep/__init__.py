"""Periodic maintenance of the database, and daily statistics."""
