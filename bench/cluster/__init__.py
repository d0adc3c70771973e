"""Servers as processes on one PostgreSQL, linked by NATS or not, with faults, and their history.

Alone in `bench` this package uses `storage`, for a PostgreSQL that belongs to no server.
"""
