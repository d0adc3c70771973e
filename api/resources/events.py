"""Events: single ones, and the newest of many devices (docs/events.md#lists)."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from quart import Response

from motorpool.actors.geocoding.places import read_places
from motorpool.actors.reports.events import ALL_EVENTS
from motorpool.actors.reports.names import visible_ids
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.history import readable_event
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.api.json import extended
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage.devices import positions
from motorpool.storage.events import event_lists
from motorpool.storage.records import Event

OPERATIONS = Operations("events")

MAX_DAYS = 31
NAMES = {
    "start": "from",
    "end": "to",
    "device_id": "deviceId",
    "group_id": "groupId",
    "before_id": "beforeId",
}


class EventsQuery(Struct, kw_only=True, rename=NAMES):
    """Which events; both ends of the span are included."""

    start: Instant
    end: Instant
    device_id: tuple[Id, ...] = ()
    """Events of these devices; devices not visible to the caller are left out."""
    group_id: tuple[Id, ...] = ()
    """Events of the devices in these groups, and in the groups below them."""
    type: tuple[str, ...] = ()
    """Types of events; none or `allEvents`: all."""
    alarm: tuple[str, ...] = ()
    """Alarms: events of type `alarm` with others are left out."""
    limit: PageSize = 100
    """Maximum number of events; 0 is 1000."""
    before_id: Id = 2**63 - 1
    """Leave out events at `to` whose id is not smaller: for the next page."""
    places: bool = False
    """Say where the events happened."""


class ListedEvent(Event, frozen=True, gc=False, rename="camel"):
    """An event, and where it happened."""

    place: str | None = None
    """Where it happened, in words of the caller: zone, address, or town; null if unknown or not asked for."""


@OPERATIONS.operation("GET", "/events", query=EventsQuery, answer=list[ListedEvent], errors=(400,))
async def list_events(call: Call) -> Response:
    """The newest events of devices in a span of at most 31 days, the newest first.

    Without devices and groups, the events of all devices that the caller is linked to.
    """
    viewer = CallViewer(call)
    wanted = call.query(EventsQuery)
    if wanted.end - wanted.start > timedelta(days=MAX_DAYS):
        raise BadRequest(f"to: more than {MAX_DAYS} days after from")
    database = call.context.database
    device_ids = await viewer.select(wanted.device_id, wanted.group_id)
    # Long lists wait for each other, as reports do.
    async with call.turn, call.context.reports.slots:
        found = await event_lists.newest(
            database,
            device_ids,
            wanted.start,
            wanted.end,
            limit=wanted.limit,
            before_id=wanted.before_id,
            types=() if ALL_EVENTS in wanted.type else wanted.type,
            alarms=wanted.alarm,
            visible=await visible_ids(database, viewer),
        )
        places = await _places(call, viewer, found) if wanted.places else {}
    visible = set(await viewer.still_visible(sorted({event.device_id for event in found})))
    shown = [
        extended(ListedEvent, event, place=places.get(event.position_id))
        for event in found
        if event.device_id in visible
    ]
    return await as_json_array(call.in_turns(slices_of(shown)))


async def _places(call: Call, viewer: CallViewer, found: Sequence[Event]) -> dict[int, str | None]:
    """Return where the positions of events are, by their ids.

    Lists are asked for again and again: the geocoder is not, and only those geofences are read that the
    devices were in.
    """
    database = call.context.database
    ids = sorted({event.position_id for event in found} - {0})
    points = await positions.TABLE.fetch_many(database, ids)
    zone_ids = {zone_id for point in points for zone_id in point.geofence_ids or ()}
    places = await read_places(database, viewer.user, viewer.preferences, among=zone_ids)
    words = await places.in_words(points, [point.address for point in points])
    return {point.id: place for point, place in zip(points, words, strict=True)}


@OPERATIONS.operation("GET", "/events/{id}", answer=Event, errors=(400,))
async def get_event(call: Call) -> Response:
    """Fetch an event."""
    found = await readable_event(call, call.id)
    if found is None:
        raise ResourceNotFound("no such event")
    return as_json(found)
