"""Thin translation between HTTP and messages; the command line and composition root."""
