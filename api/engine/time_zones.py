"""Checks attributes that name time zones, before they are stored."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from motorpool.api.http.errors import BadRequest
from motorpool.codecs.calendars.time_zones import find_zone

DECODER_ZONE = "decoder.timezone"
"""The attribute that names the zone of the clock of a device, by its name in the tz database."""


def require_time_zone(key: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if this attribute was changed to something that is not a known time zone.

    One that was stored before it was checked may stay. Null and an empty text stand for none.
    """
    name = new.get(key)
    if name in (None, "") or name == old.get(key):
        return
    if not isinstance(name, str) or not _is_known(key, name):
        raise BadRequest(f"attributes.{key}: not a known time zone, see GET /server/timezones")


def _is_known(key: str, name: str) -> bool:
    if key != DECODER_ZONE:
        return find_zone(name) is not None
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; malformed; names a directory
        return False
    return True
