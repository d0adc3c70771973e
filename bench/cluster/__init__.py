"""Two servers on one PostgreSQL: their processes, the faults, and what is noted meanwhile.

Alone in `bench` this package uses `storage`: for a PostgreSQL that belongs to neither server.
"""
