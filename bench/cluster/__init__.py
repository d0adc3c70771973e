"""Servers on one PostgreSQL, as two processes or simulated in one: the faults, and what is noted meanwhile.

Alone in `bench` this package uses `storage`, for a PostgreSQL that belongs to neither server, and `actors`.
"""
