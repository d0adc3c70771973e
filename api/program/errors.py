"""Errors that end the program with one line."""

__all__ = ["SettingsError", "StartFailed"]


class SettingsError(Exception):
    """A setting that cannot be used; the text is one line that names it. Exit code 2."""


class StartFailed(Exception):
    """The program cannot start or continue; the text is its last line on standard error. Exit code 1."""
