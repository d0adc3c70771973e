"""Notifications: stored events matched with what users want to be notified of, and turned into messages."""
