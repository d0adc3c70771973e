"""Two servers as processes on one PostgreSQL, with faults, and their history.

Alone in `bench` this package uses `storage`, for a PostgreSQL that belongs to neither server.
"""
