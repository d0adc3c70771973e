"""A location as a user prefers to read it: the field `coordinateFormat` (docs/users.md#preferences)."""

from motorpool.storage.records import ServerSettings, User

FORMATS = ("dd", "ddm", "dms")


def coordinate_format(user: User, server: ServerSettings) -> str:
    """Return the format that a user prefers: `dd` (the default), `ddm` or `dms`."""
    layers = (user.coordinate_format, server.coordinate_format)
    if server.force_settings:
        layers = layers[::-1]
    return next((each for each in layers if each in FORMATS), FORMATS[0])


def format_coordinates(latitude: float, longitude: float, style: str) -> str:
    """Return a location in degrees (`dd`), with minutes (`ddm`), or with minutes and seconds (`dms`)."""
    if style == "dd":
        return f"{latitude:.5f}, {longitude:.5f}"
    shown = _minutes if style == "ddm" else _minutes_and_seconds
    return f"{shown(latitude, 'NS')}, {shown(longitude, 'EW')}"


def _minutes(degrees: float, signs: str) -> str:
    whole, minutes = divmod(round(abs(degrees) * 60, 4), 60)
    return f"{whole:.0f}° {minutes:07.4f}' {signs[degrees < 0]}"


def _minutes_and_seconds(degrees: float, signs: str) -> str:
    minutes, seconds = divmod(round(abs(degrees) * 3600, 1), 60)
    whole, minutes = divmod(minutes, 60)
    return f"{whole:.0f}° {minutes:02.0f}' {seconds:04.1f}\" {signs[degrees < 0]}"
