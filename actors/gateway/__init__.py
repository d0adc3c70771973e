"""Sockets of devices: listeners, connections, and the codecs that run on them."""
