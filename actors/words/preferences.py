"""How a user wants to read times, units and texts: in mails, notifications, reports and exports
(docs/users.md#preferences).
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from motorpool.actors.words.catalog import language_of
from motorpool.codecs.calendars.time_zones import find_zone
from motorpool.storage.records import ServerSettings, User


class Unit(NamedTuple):
    """A unit of measurement."""

    symbol: str
    per_base: float
    """How many of it make one base unit, the unit of the API."""


# Keys are the values of the attributes; the first is the default, as in the console.
SPEED_UNITS: Mapping[str, Unit] = MappingProxyType(
    {"kmh": Unit("km/h", 1.852), "kn": Unit("kn", 1.0), "mph": Unit("mph", 1852 / 1609.344)}
)
"""Units of speed; the base is a knot."""
DISTANCE_UNITS: Mapping[str, Unit] = MappingProxyType(
    {"km": Unit("km", 0.001), "mi": Unit("mi", 1 / 1609.344), "nmi": Unit("nmi", 1 / 1852)}
)
"""Units of distance; the base is a metre."""
ALTITUDE_UNITS: Mapping[str, Unit] = MappingProxyType({"m": Unit("m", 1.0), "ft": Unit("ft", 1 / 0.3048)})
"""Units of altitude; the base is a metre."""
VOLUME_UNITS: Mapping[str, Unit] = MappingProxyType(
    {"ltr": Unit("l", 1.0), "usGal": Unit("US gal", 1 / 3.785411784), "impGal": Unit("imp gal", 1 / 4.54609)}
)
"""Units of volume; the base is a litre."""


class Preferences(msgspec.Struct, frozen=True):
    """What a user prefers."""

    language: str = "en"
    """Two letters, lower case, or one that has a catalog, such as `pt-BR`."""
    zone: tzinfo = UTC
    speed: Unit = SPEED_UNITS["kmh"]
    distance: Unit = DISTANCE_UNITS["km"]
    altitude: Unit = ALTITUDE_UNITS["m"]
    volume: Unit = VOLUME_UNITS["ltr"]


def preferences_of(
    user: Mapping[str, Any], server: Mapping[str, Any], *, force_server: bool = False, timezone: str = ""
) -> Preferences:
    """Return the preferences by the attributes of a user and of the server.

    The user's value counts first, or with `force_server` (the server's `forceSettings`) the server's. A value
    that is not known counts as absent. `timezone` is the zone where neither says one; default: UTC.
    """
    layers = (server, user) if force_server else (user, server)
    return Preferences(
        language=next(_languages(layers), "en"),
        zone=next(_zones((*layers, {"timezone": timezone})), UTC),
        speed=_unit("speedUnit", SPEED_UNITS, layers),
        distance=_unit("distanceUnit", DISTANCE_UNITS, layers),
        altitude=_unit("altitudeUnit", ALTITUDE_UNITS, layers),
        volume=_unit("volumeUnit", VOLUME_UNITS, layers),
    )


def preferences_for(user: User, server: ServerSettings, *, timezone: str = "") -> Preferences:
    """Return the preferences of a user, from the user's and the server's attributes; `timezone` as above."""
    return preferences_of(
        user.attributes, server.attributes, force_server=server.force_settings, timezone=timezone
    )


def _texts(key: str, layers: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    return (value for layer in layers if isinstance(value := layer.get(key), str) and value)


def _languages(layers: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    return (language for value in _texts("language", layers) if (language := language_of(value)) is not None)


def _zones(layers: tuple[Mapping[str, Any], ...]) -> Iterator[tzinfo]:
    return (zone for value in _texts("timezone", layers) if (zone := find_zone(value)) is not None)


def _unit(key: str, known: Mapping[str, Unit], layers: tuple[Mapping[str, Any], ...]) -> Unit:
    chosen = next((value for value in _texts(key, layers) if value in known), next(iter(known)))
    return known[chosen]
