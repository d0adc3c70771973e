"""Where devices are now, in words (docs/devices.md#places)."""

import msgspec
from quart import Response

from motorpool.actors.geocoding.places import read_places
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.words.preferences import preferences_for
from motorpool.api.access import visible_device_ids
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json

OPERATIONS = Operations("devices")

MAX_DEVICES = 500


class DevicePlace(msgspec.Struct, frozen=True, rename="camel"):
    """Where a device is."""

    device_id: int
    place: str | None
    """In words of the caller: zone, address, or town; null where nothing is known."""


class PlacesQuery(msgspec.Struct):
    """Which devices' places to list."""

    id: tuple[int, ...]
    """These devices, at most 500."""


@OPERATIONS.operation("GET", "/devices/places", query=PlacesQuery, answer=list[DevicePlace], errors=(400,))
async def list_device_places(call: Call) -> Response:
    """Where devices are, in words; those without a position, or not visible, are left out.

    Pages ask for what they show again and again: the geocoder is not asked, and only those geofences are read
    that the devices are in.
    """
    wanted = set(call.query(PlacesQuery).id)
    if len(wanted) > MAX_DEVICES:
        raise BadRequest(f"id: at most {MAX_DEVICES} devices")
    context = call.context
    if not call.caller.administrator:
        wanted &= await visible_device_ids(context, call.caller)
    latest = await context.system.ref(DIRECTORY).ask(GetLatestPositions(tuple(sorted(wanted))))
    user = call.caller.user
    zone_ids = {zone_id for position in latest for zone_id in position.geofence_ids or ()}
    places = await read_places(context.database, user, preferences_for(user, context.server), among=zone_ids)
    words = await places.in_words(latest, [position.address for position in latest])
    return as_json([DevicePlace(each.device_id, place) for each, place in zip(latest, words, strict=True)])
