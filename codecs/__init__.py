"""Bytes in, messages out; messages in, bytes out. No sockets, no clock, no SQL."""
