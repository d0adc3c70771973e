"""Errors that end the program with one line."""

__all__ = ["SettingsError", "StartFailed"]


class SettingsError(Exception):
    """A setting that cannot be used; the text is one line that names it. Exit code 2."""


class StartFailed(Exception):
    """The server cannot start or go on; the text is the process's last line. Exit code 1."""
