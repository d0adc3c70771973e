"""Mails that no request and no event of a device causes: they are due at an instant."""
