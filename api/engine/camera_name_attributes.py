"""Checks the attribute that names the cameras of a device, before it is stored (docs/devices.md#cameras)."""

from collections.abc import Mapping
from typing import Any

from motorpool.api.http.errors import BadRequest
from motorpool.codecs.channel_map import CHANNELS, MAX_CHANNEL

CAMERAS_KEY = "cameras"
MAX_NAME = 40
"""Characters of a name."""
_NUMBERS = frozenset(map(str, CHANNELS))


def require_camera_names(new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if the names were changed to something else than names by the number of a camera.

    Null stands for none.
    """
    names = new.get(CAMERAS_KEY)
    if names is None or names == old.get(CAMERAS_KEY):
        return
    if not isinstance(names, dict):
        raise BadRequest(f'attributes.{CAMERAS_KEY}: is no object such as {{"1": "front"}}')
    for number, name in names.items():
        if number not in _NUMBERS:
            raise BadRequest(f"attributes.{CAMERAS_KEY}: cameras have the numbers 1 to {MAX_CHANNEL}")
        if problem := _fault(name):
            raise BadRequest(f"attributes.{CAMERAS_KEY}.{number}: {problem}")


def _fault(name: object) -> str:
    if not isinstance(name, str):
        return "is not a text"
    if len(name) > MAX_NAME:
        return f"has more than {MAX_NAME} characters"
    if not name or name != name.strip():
        return "is empty, or has blanks at its ends"
    return "" if name.isprintable() else "has other characters than those of one printed line"
