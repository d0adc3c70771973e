"""Captures, recordings, footage requests, and the numbers of segments."""
