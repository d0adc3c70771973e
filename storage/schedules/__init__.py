"""Scheduled commands and their runs."""
