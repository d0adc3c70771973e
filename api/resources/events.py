"""Events: single ones, the newest of many devices, and their review (docs/events.md#lists)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from quart import Response

from motorpool.actors.geocoding.places import read_places
from motorpool.actors.messages.topics import REVIEWS, ReviewsChanged
from motorpool.actors.reports.events import ALL_EVENTS
from motorpool.actors.reports.names import visible_ids
from motorpool.api.auth.rights import REVIEW_EVENTS
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, PageSize
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.engine.text_rules import TextRules, require_plain_texts
from motorpool.api.engine.versions import IF_MATCH, VERSION_HEADER, require_version, with_version
from motorpool.api.history import readable_event
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.api.json import extended
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage.devices import positions
from motorpool.storage.events import event_lists, events
from motorpool.storage.records import Event, Position, Review, ReviewState, Severity

OPERATIONS = Operations("events")

MAX_DAYS = 31
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
MAX_NOTE = 1000
"""Characters."""
TEXTS = TextRules({"note": None})
NAMES = {
    "start": "from",
    "end": "to",
    "device_id": "deviceId",
    "group_id": "groupId",
    "before_id": "beforeId",
}


class EventsQuery(Struct, kw_only=True, rename=NAMES):
    """Which events; both ends of the span are included."""

    start: Instant | None = None
    """Start of the span; needed, unless only events that wait for review are asked for."""
    end: Instant | None = None
    """Its end, likewise."""
    device_id: tuple[Id, ...] = ()
    """Events of these devices; devices not visible to the caller are left out."""
    group_id: tuple[Id, ...] = ()
    """Events of the devices in these groups, and in the groups below them."""
    type: tuple[str, ...] = ()
    """Types of events; none or `allEvents`: all."""
    alarm: tuple[str, ...] = ()
    """Alarms: events of type `alarm` with others are left out."""
    severity: tuple[Severity, ...] = ()
    """Events that are as severe as one of these; none: all."""
    state: tuple[ReviewState, ...] = ()
    """Events whose review is in one of these states; none: all."""
    limit: PageSize = 100
    """Maximum number of events; 0 is 1000."""
    before_id: Id = 2**63 - 1
    """Leave out events at `to` whose id is not smaller: for the next page."""
    places: bool = False
    """Say where the events happened."""
    details: bool = False
    """Say which driver it was, and name a picture."""


class ListedEvent(Event, frozen=True, gc=False, rename="camel"):
    """An event, and where it happened."""

    place: str | None = None
    """Where it happened, in words of the caller: zone, address, or town; null if unknown or not asked for."""
    driver_unique_id: str | None = None
    """The driver by what the vehicle said then; null if it said nothing, or it was not asked for."""
    picture: str | None = None
    """The file of the device with the picture nearest to the event, of those that it sent within five
    minutes; null if there is none, or it was not asked for."""


@OPERATIONS.operation("GET", "/events", query=EventsQuery, answer=list[ListedEvent], errors=(400,))
async def list_events(call: Call) -> Response:
    """The newest events of devices in a span of at most 31 days, the newest first.

    Without devices and groups, the events of all devices that the caller is linked to. With `state=OPEN` the
    span may be of any length, or absent.
    """
    viewer = CallViewer(call)
    wanted = call.query(EventsQuery)
    start, end = _span(wanted)
    database = call.context.database
    device_ids = await viewer.select(wanted.device_id, wanted.group_id)
    # Long lists wait for each other, as reports do.
    async with call.turn, call.context.reports.slots:
        found = await event_lists.newest(
            database,
            device_ids,
            start,
            end,
            now=call.now,
            limit=wanted.limit,
            before_id=wanted.before_id,
            types=() if ALL_EVENTS in wanted.type else wanted.type,
            alarms=wanted.alarm,
            severities=wanted.severity,
            states=wanted.state,
            visible=await visible_ids(database, viewer.user),
        )
        ids = {event.position_id for event in found} - {0} if wanted.places or wanted.details else set()
        points = await positions.TABLE.fetch_many(database, sorted(ids))
        places = await _places(call, viewer, points) if wanted.places else {}
        pictures = await event_lists.pictures_of(database, found) if wanted.details else {}
    drivers = {point.id: point.attributes.get("driverUniqueId") for point in points if wanted.details}
    visible = set(await viewer.still_visible(sorted({event.device_id for event in found})))
    shown = [
        extended(
            ListedEvent,
            event,
            place=places.get(event.position_id),
            driver_unique_id=_text(drivers.get(event.position_id)),
            picture=pictures.get(event.id),
        )
        for event in found
        if event.device_id in visible
    ]
    return await as_json_array(call.in_turns(slices_of(shown)))


def _span(wanted: EventsQuery) -> tuple[datetime, datetime]:
    """Return both ends of the span of a query."""
    if set(wanted.state) == {"OPEN"}:
        end = wanted.end or LATEST
        return wanted.start or min(EARLIEST, end), end
    if wanted.start is None or wanted.end is None:
        raise BadRequest(f"{'from' if wanted.start is None else 'to'}: needed")
    if wanted.end - wanted.start > timedelta(days=MAX_DAYS):
        raise BadRequest(f"to: more than {MAX_DAYS} days after from")
    return wanted.start, wanted.end


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


async def _places(call: Call, viewer: CallViewer, points: Sequence[Position]) -> dict[int, str | None]:
    """Return where positions are, by their ids.

    Lists are asked for again and again: the geocoder is not, and only those geofences are read that the
    devices were in.
    """
    database = call.context.database
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


class NewReview(Struct, frozen=True):
    """What came of looking at an event."""

    state: ReviewState
    """`OPEN` has it wait for review again."""
    note: Annotated[str, Meta(max_length=MAX_NOTE)] | None = None
    """Why, in plain text; replaces the one of before."""
    version: Id = 0
    """The version that the review must have; 0: any."""


@OPERATIONS.operation(
    "PUT",
    "/events/{id}/review",
    body=NewReview,
    answers={200: Content(shape=Event, headers=VERSION_HEADER)},
    headers=IF_MATCH,
    errors=(404,),
)
async def review_event(call: Call) -> Response:
    """Say that an event was acknowledged or dismissed, or has it wait again, for all who see it.

    Who and when is set by the server. An event without a review, whose severity is INFO, gets none.
    """
    REVIEW_EVENTS.require(call.caller)
    sent = TEXTS.trimmed(await call.body(NewReview))
    require_plain_texts(sent, None)
    async with call.context.database.transaction() as transaction:
        found = await readable_event(call, call.id, transaction)
        if found is None:
            missing = ResourceNotFound if call.caller.administrator else BadRequest
            raise missing(f"event {call.id}: no access to it, or no such")
        before = found.review
        if before is None:
            raise BadRequest(f"event {found.id} needs no review")
        require_version(call, f"event {found.id}", before.version, sent.version)
        caller = call.caller.user
        after = Review(sent.state, sent.note, caller.id, caller.name, call.now, before.version + 1)
        await events.set_review(transaction, found.id, after)
        await record_action(
            call,
            transaction,
            "review",
            "event",
            found.id,
            attributes={"state": {"before": before.state, "after": after.state}, "note": after.note},
        )
    reviewed = msgspec.structs.replace(found, review=after)
    call.context.system.topic(REVIEWS).publish(ReviewsChanged((reviewed,)))
    return with_version(as_json(reviewed), after.version)
