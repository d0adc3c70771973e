"""The error of a setting."""


class SettingsError(Exception):
    """A setting that cannot be used; the text is one line that names it. Exit code 2."""
