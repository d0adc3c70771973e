"""Servers on one PostgreSQL, as two processes or simulated in one, with faults, and their history.

Alone in `bench` this package uses `storage`, for a PostgreSQL that belongs to neither server, and `actors`.
"""
