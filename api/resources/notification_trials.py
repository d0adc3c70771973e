"""Trials of notifications on stored events (docs/events.md#trial)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
import trio
from quart import Response

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events.deliveries import facts_of
from motorpool.actors.events.examples import EXAMPLE_PLACE, example_facts
from motorpool.actors.events.matching import concerns, notificators_of, subject_of, wanted_by
from motorpool.actors.events.own_words import own_words_of
from motorpool.actors.events.rendering import reader_of, render
from motorpool.actors.reports.names import visible_ids
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Span
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.resources.calendars import opening
from motorpool.api.resources.linked_policy import may_see_user
from motorpool.api.resources.notifications import NOTIFICATIONS
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage import plain_tables
from motorpool.storage.accounts import access, users
from motorpool.storage.events import event_lists, notifications
from motorpool.storage.records import Event, Notification, User

OPERATIONS = Operations("notifications")

MAX_SPAN = timedelta(days=31)
MAX_EVENTS = 5000
"""Events of the type that are looked at: the newest."""
MAX_USERS = 100
MAX_LISTED = 100

Ids = Annotated[tuple[Id, ...], msgspec.Meta(max_length=1000)]
UserIds = Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_USERS)]


class TriedNotification(Notification, frozen=True, kw_only=True, rename="camel"):
    """A notification, stored or not, and what it would be linked to."""

    device_ids: Ids = ()
    """Devices; of no account with `always`."""
    group_ids: Ids = ()
    """Groups, each with the groups below it; of no account with `always`."""
    user_ids: UserIds = ()
    """Who is to be notified; without any, the caller."""


class TriedChannel(msgspec.Struct, frozen=True, rename="camel"):
    """What would have gone out by a notificator."""

    type: str
    """The notificator."""
    messages: int
    """Messages to all users; of `command`, commands."""
    users: int
    """Users who would have got any."""
    unreached: int
    """Users who would have got some if they had an address for it, and the server a way to send them."""


class TriedEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An event that users would have been notified of."""

    event_id: int
    """The event."""
    device_id: int
    """The device."""
    event_time: datetime
    """When it happened."""
    users: int
    """How many of the users see the device."""


class TriedMessage(msgspec.Struct, frozen=True, rename="camel"):
    """A message as the caller would have read it; places are left out."""

    subject: str
    """Of a mail."""
    digest: str
    """One line, as sockets and text messages have it."""
    text: str
    """The lines of a mail."""


class NotificationTrial(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """What a notification would have sent of stored events."""

    start: datetime
    """Where the span begins; later, if there were too many events to look at all."""
    end: datetime
    """Where the span ends; now, if that is earlier."""
    events: int
    """Events that it concerns."""
    shut: int
    """Events that it would concern if its calendar had been open."""
    channels: list[TriedChannel]
    """By each of its notificators."""
    newest: list[TriedEvent]
    """The newest of the events that it concerns, at most 100, the newest first."""
    preview: TriedMessage | None
    """What the caller would have been told of the newest; null without one."""


@OPERATIONS.operation(
    "POST",
    "/notifications/trial",
    query=Span,
    body=TriedNotification,
    answer=NotificationTrial,
    errors=(400,),
)
async def try_notification(call: Call) -> Response:
    """Try a notification, stored or not, on stored events; it changes and sends nothing.

    For users who may see reports, of at most 31 days, and of users whom the caller may edit. Events of
    devices, geofences and maintenance that the caller does not see are left out. At most the newest 5,000
    events of the type are looked at.
    """
    viewer = CallViewer(call)
    span = call.query(Span)
    end = min(span.end, call.now)
    if not timedelta(0) < span.end - span.start <= MAX_SPAN:
        raise BadRequest("from, to: a span of at most 31 days, and its end after its start")
    tried = await call.body(TriedNotification)
    notification = await _checked(call, tried.id)
    recipients = await _recipients(call, tried.user_ids)
    start = min(span.start, end)
    device_ids = await _devices(viewer, tried)
    is_open = await opening(call, notification.calendar_id, start, end)
    async with call.turn, call.context.reports.slots:
        found = await event_lists.newest(
            call.context.database,
            device_ids,
            start,
            end,
            now=call.now,
            limit=MAX_EVENTS,
            types=[notification.type],
            visible=await visible_ids(call.context.database, viewer.user),
        )
        seen = set(await viewer.still_visible(sorted({event.device_id for event in found})))
        # Long lists of alarms or geofences take a while for each of the events.
        concerned = await trio.to_thread.run_sync(_concerned, notification, found)
    wanted = [event for event in concerned if event.device_id in seen]
    kept = [event for event in wanted if is_open(event.event_time)]
    if len(found) == MAX_EVENTS:
        start = found[-1].event_time
    viewers = await _viewers(call, recipients, {event.device_id for event in kept})
    return as_json(
        NotificationTrial(
            start,
            end,
            events=len(kept),
            shut=len(wanted) - len(kept),
            channels=await _channels(call, notification, kept, viewers),
            newest=[
                TriedEvent(event.id, event.device_id, event.event_time, len(viewers[event.device_id]))
                for event in kept[:MAX_LISTED]
            ],
            preview=await _preview(call, notification, kept[0]) if kept else None,
        )
    )


async def _preview(call: Call, notification: Notification, event: Event) -> TriedMessage:
    """Return an event in words, in the language, the zone and the units of the caller."""
    (facts,) = await facts_of(call.context.database, [event], call.context.settings.public_url)
    return await trio.to_thread.run_sync(_message, call, notification, facts)


def _message(call: Call, notification: Notification, facts: EventFacts, place: str = "") -> TriedMessage:
    reader = reader_of(call.caller.user, call.context.server)
    rendered = render(facts, reader, place, own_words_of(notification.attributes))
    return TriedMessage(rendered.subject, rendered.digest, rendered.text)


@OPERATIONS.operation("POST", "/notifications/preview", body=Notification, answer=TriedMessage, errors=(400,))
async def preview_notification(call: Call) -> Response:
    """The words of a notification, stored or not, for an event that is made up, as the caller reads them."""
    notification = await NOTIFICATIONS.policy.read(call, Notification)
    shown = example_facts(notification, call.now, call.context.settings.public_url)
    return as_json(_message(call, notification, shown, EXAMPLE_PLACE))


def _concerned(notification: Notification, found: Sequence[Event]) -> list[Event]:
    wanted = wanted_by(notification)
    return [event for event in found if concerns(wanted, subject_of(event))]


async def _checked(call: Call, stored_id: int) -> Notification:
    """Return the notification of the body as it would be stored."""
    stored = await plain_tables.NOTIFICATIONS.fetch(call.context.database, stored_id) if stored_id else None
    policy = NOTIFICATIONS.policy
    if stored is not None and not await policy.has_access(call, call.context.database, stored.id):
        stored = None
    sent = await policy.read(call, Notification)
    # What it refers to already is not checked again.
    return await policy.prepare(call, call.context.database, sent, stored)


async def _recipients(call: Call, user_ids: Sequence[int]) -> list[User]:
    """Return the users who can log in at all; the caller without any.

    Raises:
        BadRequest: one is not among those whom the caller may edit.
    """
    database = call.context.database
    wanted = list(dict.fromkeys(user_ids)) or [call.caller.id]
    for user_id in wanted:
        if not await may_see_user(call, database, user_id):
            raise BadRequest("userIds: no access to one of them, or no such")
    found = await users.TABLE.fetch_many(database, wanted)
    if len(found) < len(wanted):
        raise BadRequest("userIds: no access to one of them, or no such")
    return [user for user in found if may_log_in(user, call.now)]


async def _devices(viewer: CallViewer, tried: TriedNotification) -> list[int]:
    if not tried.always and not tried.device_ids and not tried.group_ids:
        return []
    return await (viewer.select((), ()) if tried.always else viewer.select(tried.device_ids, tried.group_ids))


async def _viewers(
    call: Call, recipients: Sequence[User], device_ids: set[int]
) -> Mapping[int, Sequence[User]]:
    """Return which of the users see each of the devices by a link, as it counts for administrators, too."""
    found: dict[int, list[User]] = {device_id: [] for device_id in device_ids}
    for user in recipients:
        for device_id in device_ids & await access.device_ids(call.context.database, user.id):
            found[device_id].append(user)
    return found


async def _channels(
    call: Call, notification: Notification, kept: Sequence[Event], viewers: Mapping[int, Sequence[User]]
) -> list[TriedChannel]:
    """Return what the events would have sent by each notificator."""
    of_device = Counter(event.device_id for event in kept)
    by_user: Counter[int] = Counter()
    people: dict[int, User] = {}
    for device_id, events in of_device.items():
        for user in viewers[device_id]:
            by_user[user.id] += events
            people[user.id] = user
    found = []
    for name in notificators_of(notification):
        if name == "command":
            found.append(await _commands(call, notification.command_id, of_device, viewers))
            continue
        reached = [user_id for user_id, user in people.items() if _reaches(call, name, user)]
        messages = sum(by_user[user_id] for user_id in reached)
        found.append(TriedChannel(name, messages, len(reached), len(people) - len(reached)))
    return found


def _reaches(call: Call, name: str, user: User) -> bool:
    notificator = call.context.outgoing.notificators.get(name)
    if notificator is None:
        return name == "web"
    return notificator.enabled_for(user.attributes) and bool(notificator.address_of(user))


async def _commands(
    call: Call, command_id: int, of_device: Mapping[int, int], viewers: Mapping[int, Sequence[User]]
) -> TriedChannel:
    """Return how often the command would have been sent, with the rights of any of the users."""
    people = sorted({user.id for device_id in of_device for user in viewers[device_id]})
    pairs = [(user_id, command_id) for user_id in people]
    senders = {user_id for user_id, _ in await notifications.command_senders(call.context.database, pairs)}
    messages = sum(
        events
        for device_id, events in of_device.items()
        if any(user.id in senders for user in viewers[device_id])
    )
    return TriedChannel("command", messages, len(senders), len(people) - len(senders))
