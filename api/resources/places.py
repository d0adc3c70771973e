"""Places by their names (zones, addresses and towns), and towns by places (docs/server.md#places)."""

from typing import Annotated, Final, Literal

import msgspec
import trio
from msgspec import Meta
from quart import Response

from motorpool.actors.geocoding.places import near_town, zone_middles
from motorpool.actors.geocoding.towns import read_towns
from motorpool.actors.http.errors import OutgoingError
from motorpool.actors.words.preferences import preferences_for
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest, Unavailable
from motorpool.api.http.responses import as_json
from motorpool.api.request_limits import count
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.plain_tables import GEOFENCES

OPERATIONS = Operations("places")

MOST_PLACES: Final = 50
DEFAULT_PLACES: Final = 10
MOST_CHARACTERS: Final = 200


class PlacesQuery(msgspec.Struct):
    """What is looked for."""

    keyword: Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS)]
    """The beginning of a town's name, a part of a zone's, or an address."""
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    """With `longitude`: towns near this place, in degrees, come first."""
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None
    """Needs `latitude`."""
    addresses: bool = False
    """Whether the geocoder is asked, where one is configured, rather than the list of towns."""
    limit: Annotated[int, Meta(ge=0, le=MOST_PLACES)] = DEFAULT_PLACES
    """How many at most; 0: as many as allowed."""


class FoundPlace(msgspec.Struct, rename="camel"):
    """A place that was found by its name."""

    kind: Literal["geofence", "address", "town"]
    """What it is."""
    name: str
    """Its name; of an address that in one line."""
    latitude: float
    """Degrees, north positive; of a geofence its middle."""
    longitude: float
    """Degrees, east positive."""
    geofence_id: int | None = None
    """Of a geofence."""
    country: str | None = None
    """Of a town, as a code of two letters."""


class TownQuery(msgspec.Struct):
    """A place, in degrees."""

    latitude: Annotated[float, Meta(ge=-90, le=90)]
    longitude: Annotated[float, Meta(ge=-180, le=180)]


class NearTown(msgspec.Struct):
    """The town of a place."""

    place: str | None
    """The town that the place is in, else the nearest one as in "Potsdam, 3 km NE".

    Null at 0, 0, which devices without a fix send.
    """


@OPERATIONS.operation("GET", "/places/town", query=TownQuery, answer=NearTown)
async def find_town(call: Call) -> Response:
    """The town of a place in words of the caller, which needs no geocoder."""
    place = call.query(TownQuery)
    preferences = preferences_for(call.caller.user, call.context.server)
    found = await trio.to_thread.run_sync(lambda: near_town(place, read_towns(), preferences))
    return as_json(NearTown(found))


@OPERATIONS.operation("GET", "/places", query=PlacesQuery, answer=list[FoundPlace], errors=(400, 429))
async def find_places(call: Call) -> Response:
    """Places by name: geofences of the user, then addresses if asked for, else towns."""
    query = call.query(PlacesQuery)
    if (query.latitude is None) != (query.longitude is None):
        raise BadRequest("latitude and longitude need each other")
    keyword = query.keyword.strip()
    limit = query.limit or MOST_PLACES
    if not keyword:
        raise BadRequest("keyword: is empty")
    found = await _geofences(call, keyword, limit)
    found += await (_addresses(call, keyword) if query.addresses else _towns(query, keyword, limit))
    return as_json(found[:limit])


async def _geofences(call: Call, keyword: str, limit: int) -> list[FoundPlace]:
    user = call.caller
    query = ListQuery(accessible_to=None if user.administrator else user.id, keyword=keyword, limit=limit)
    rows = await GEOFENCES.list(call.context.database, query)
    found = await trio.to_thread.run_sync(lambda: list(zone_middles(rows)))
    return [
        FoundPlace("geofence", row.name, latitude, longitude, geofence_id=row.id)
        for row, (latitude, longitude) in found
    ]


async def _addresses(call: Call, keyword: str) -> list[FoundPlace]:
    geocoder = call.context.outgoing.geocoder
    if geocoder is None:
        return []
    await count(call.context.limits.address_searches, str(call.caller.id), "searches of addresses")
    try:
        found = await geocoder.search(keyword)
    except OutgoingError as error:
        raise Unavailable(str(error)) from None
    return [FoundPlace("address", each.name, each.latitude, each.longitude) for each in found]


async def _towns(query: PlacesQuery, keyword: str, limit: int) -> list[FoundPlace]:
    near = None
    if query.latitude is not None and query.longitude is not None:
        near = query.latitude, query.longitude
    found = await trio.to_thread.run_sync(lambda: read_towns().search(keyword, limit, near))
    return [
        FoundPlace("town", each.name, each.latitude, each.longitude, country=each.country or None)
        for each in found
    ]
