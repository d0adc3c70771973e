"""Outgoing HTTP requests to checked addresses."""
