"""HTTP beneath the API: server, sockets, responses, static files."""
