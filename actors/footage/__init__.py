"""Footage requests: recordings that are fetched once their vehicle is online."""
