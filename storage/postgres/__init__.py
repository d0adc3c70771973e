"""The embedded PostgreSQL server: its process, its data folder, its dumps."""
