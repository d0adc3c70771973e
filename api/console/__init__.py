"""The static files served at `/`."""
