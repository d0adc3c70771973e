"""Plans the deliveries of a batch of events, in the transaction that matches them with notifications."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import trio

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events.matching import (
    Subject,
    concerns,
    notificators_of,
    subject_of,
    wanted_by,
    wants_all_alarms,
)
from motorpool.actors.events.own_words import STANDARD, OwnWords, own_words_of
from motorpool.actors.geocoding.places import smallest_first
from motorpool.actors.words.cameras import cameras_of
from motorpool.actors.work.open_calendars import CalendarLook, OpenCalendars
from motorpool.storage import plain_tables
from motorpool.storage.accounts import server, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import receivers
from motorpool.storage.devices import camera_names, commands, devices, positions
from motorpool.storage.events import notifications
from motorpool.storage.events.waiting import WaitingEvent
from motorpool.storage.records import Command, Event, Notification, Position, ServerSettings, User

MAX_WORK = 4_000
"""Recipients and notifications of the events of one batch, beyond which the others wait for the next."""
POSITIONS_AT_A_TIME = 10
"""Positions whose zones are looked up without a pause for other tasks; each may be in hundreds."""
ROWS_AT_A_TIME = 10
"""Notifications that are read without a pause for other tasks: their lists may take a millisecond."""


class Manner(NamedTuple):
    """How a user is told of an event by a notificator."""

    urgent: bool = False
    words: OwnWords = STANDARD


class EventDelivery(msgspec.Struct, frozen=True):
    """An event and who gets it by which notificator."""

    facts: EventFacts
    recipients: Mapping[str, Mapping[int, Manner]] = {}
    """Notificator -> user -> how."""


class CommandDelivery(msgspec.Struct, frozen=True):
    """A saved command that an event has sent to its device."""

    event_id: int
    device_id: int
    command: Command
    user_id: int
    """With whose rights."""


class BatchPlan(msgspec.Struct, frozen=True):
    """The events that are handled, and what follows from them."""

    handled_ids: tuple[int, ...]
    looked_at: int
    """Events from the first on, with those whose calendars have to be computed before they are handled."""
    events: tuple[EventDelivery, ...] = ()
    commands: tuple[CommandDelivery, ...] = ()
    users: dict[int, User] = {}
    paused: frozenset[tuple[int, str]] = frozenset()
    """(user, lane) of receivers for which no messages are made."""
    server: ServerSettings = ServerSettings()
    seen_zones: Mapping[tuple[int, int], int] = {}
    """(event, user) -> the smallest zone of the event that the user is linked to."""


async def plan_batch(
    transaction: Queries,
    waiting: Sequence[WaitingEvent],
    calendars: OpenCalendars,
    *,
    now: datetime,
    max_age: timedelta,
    link: str,
) -> BatchPlan:
    """Return what the first of these events send to whom, as many as are not too much work.

    Events that were older than `max_age` when they were stored send nothing. `link` is the console's URL.
    """
    fresh = {each.event.id for each in waiting if each.event.event_time >= each.stored - max_age}
    candidates = await _candidates(
        transaction, [each.event for each in waiting if each.event.id in fresh], now
    )
    look = await calendars.look(
        transaction,
        (one.notification.calendar_id for each in candidates.values() for one in each),
    )
    notified: dict[int, _Notified] = {}
    known: dict[tuple[int, ...], _Notified] = {}
    handled: list[int] = []
    postponed: set[int] = set()
    events: dict[int, Event] = {}
    work = looked = 0
    for each in waiting:
        event = each.event
        found = candidates.get((event.device_id, event.type)) if event.id in fresh else None
        if found is not None:
            if work > MAX_WORK:
                break
            selected = _selected(found, event, look)
            await trio.lowlevel.checkpoint()
            if selected is None or event.device_id in postponed:
                postponed.add(event.device_id)
                looked += 1
                continue
            # Who is notified of one event of a device is mostly notified of the next.
            key = (event.device_id, *(one.notification.id for one in selected))
            if selected:
                if key not in known:
                    known[key] = _notified_by(selected)
                notified[event.id] = known[key]
                events[event.id] = event
                work += known[key].work
            work += 1 + len(selected) // ROWS_AT_A_TIME
        handled.append(event.id)
        looked += 1
    if not notified:
        return BatchPlan(tuple(handled), looked)
    facts = await facts_of(transaction, list(events.values()), link)
    deliveries = tuple(EventDelivery(each, notified[each.event.id].recipients) for each in facts)
    user_ids = sorted({user_id for each in notified.values() for user_id in each.user_ids})
    # Sockets have no receiver that could be paused.
    has_lanes = any(each.recipients.keys() - {"web"} for each in deliveries)
    return BatchPlan(
        tuple(handled),
        looked,
        deliveries,
        await _commands(transaction, events, notified),
        {user.id: user for user in await users.TABLE.fetch_many(transaction, user_ids)},
        frozenset(await receivers.paused(transaction, user_ids) if has_lanes else ()),
        await server.fetch(transaction),
        await _seen_zones(transaction, facts, notified),
    )


class _Candidate(NamedTuple):
    """A notification, and the users who get it of events of the device."""

    notification: Notification
    wanted: Subject
    words: OwnWords
    user_ids: tuple[int, ...]


class _Candidates:
    """The notifications for events of one type of a device, found by what they are restricted to."""

    def __init__(self, kind: str) -> None:
        self._by_alarm = kind == "alarm"
        self._unrestricted: list[_Candidate] = []
        self._restricted: dict[str, list[_Candidate]] = {}

    def add(self, candidate: _Candidate) -> None:
        """Add a notification of this type."""
        wanted = candidate.wanted
        keys = wanted.alarms if self._by_alarm else wanted.geofence_ids
        if not keys and (not self._by_alarm or wants_all_alarms(wanted)):
            self._unrestricted.append(candidate)
        for key in keys:
            self._restricted.setdefault(key, []).append(candidate)

    def __iter__(self) -> Iterator[_Candidate]:
        yield from self._unrestricted
        yield from itertools.chain.from_iterable(self._restricted.values())

    def of(self, subject: Subject) -> Sequence[_Candidate]:
        """Return the notifications that concern an event of the type, calendars aside, in one order."""
        keys = subject.alarms if self._by_alarm else subject.geofence_ids
        found = {
            candidate.notification.id: candidate
            for key in keys
            for candidate in self._restricted.get(key, ())
            if concerns(candidate.wanted, subject)
        }
        unrestricted = (
            each
            for each in self._unrestricted
            if each.wanted.severity is None or concerns(each.wanted, subject)
        )
        return [*unrestricted, *(found[number] for number in sorted(found))]


class _Notified(msgspec.Struct, frozen=True):
    """Who is notified of an event, and how."""

    recipients: Mapping[str, Mapping[int, Manner]]
    """Notificator -> user -> how."""
    commands: Mapping[int, Sequence[int]]
    """Saved command -> users with whose rights it may be sent."""
    user_ids: frozenset[int]
    work: int


def _notified_by(selected: Sequence[_Candidate]) -> _Notified:
    recipients: dict[str, dict[int, Manner]] = {}
    commands: dict[int, set[int]] = {}
    # Of several with words of their own the oldest counts.
    for notification, _, words, user_ids in sorted(selected, key=_age):
        urgent = notification.attributes.get("priority") is True
        manner = Manner(urgent, words)
        for name in notificators_of(notification):
            if name == "command":
                if notification.command_id:
                    commands.setdefault(notification.command_id, set()).update(user_ids)
                continue
            of_name = recipients.setdefault(name, {})
            for user_id in user_ids:
                before = of_name.get(user_id)
                of_name[user_id] = manner if before is None else _both(before, manner)
    users_of_all = frozenset(itertools.chain.from_iterable(each.user_ids for each in selected))
    return _Notified(
        recipients,
        {command_id: sorted(user_ids) for command_id, user_ids in commands.items()},
        users_of_all,
        sum(map(len, recipients.values())),
    )


def _age(candidate: _Candidate) -> int:
    return candidate.notification.id


def _both(older: Manner, newer: Manner) -> Manner:
    words = newer.words if older.words == STANDARD else older.words
    return Manner(older.urgent or newer.urgent, words)


async def _candidates(
    transaction: Queries, events: Sequence[Event], now: datetime
) -> dict[tuple[int, str], _Candidates]:
    """Return the notifications for events like these, by device and type."""
    subjects = {(event.device_id, event.type) for event in events}
    matches = await notifications.find_matches(transaction, subjects, now=now)
    wanted_ids = sorted({match.notification_id for match in matches})
    rows = {row.id: row for row in await plain_tables.NOTIFICATIONS.fetch_many(transaction, wanted_ids)}
    wanted = {}
    words = {}
    for number, row in rows.items():
        wanted[number] = wanted_by(row)
        words[number] = own_words_of(row.attributes)
        if len(wanted) % ROWS_AT_A_TIME == 0:
            await trio.lowlevel.checkpoint()
    found: dict[tuple[int, str], _Candidates] = {}
    for count, match in enumerate(matches):
        number = match.notification_id
        if number in rows:
            subject = match.device_id, match.type
            if subject not in found:
                found[subject] = _Candidates(match.type)
            found[subject].add(_Candidate(rows[number], wanted[number], words[number], match.user_ids))
        if count % ROWS_AT_A_TIME == 0:
            await trio.lowlevel.checkpoint()
    return found


def _selected(found: _Candidates, event: Event, look: CalendarLook) -> list[_Candidate] | None:
    """Return the notifications that concern an event; None if some of their calendars must be computed."""
    candidates = found.of(subject_of(event))
    # All are asked, so that all that is missing is computed.
    are_open = [look.covers(each.notification.calendar_id, event.event_time) for each in candidates]
    if None in are_open:
        return None
    return [each for each, is_open in zip(candidates, are_open, strict=True) if is_open]


async def facts_of(transaction: Queries, events: Sequence[Event], link: str) -> list[EventFacts]:
    """Return the events with the rows that their texts mention."""
    device_rows = await devices.TABLE.fetch_many(transaction, {event.device_id for event in events})
    position_rows = await positions.TABLE.fetch_many(transaction, {event.position_id for event in events})
    zone_ids = {zone_id for row in position_rows for zone_id in row.geofence_ids or ()}
    geofence_rows = await _rows(
        transaction, plain_tables.GEOFENCES, zone_ids | {event.geofence_id for event in events}
    )
    zones = [row for row in geofence_rows.values() if row.id in zone_ids]
    if len(zones) > 1:
        zones = await trio.to_thread.run_sync(smallest_first, zones)
    zones_of = {}
    for row in position_rows:
        inside = set(row.geofence_ids or ())
        zones_of[row.id] = tuple(zone for zone in zones if zone.id in inside)
        if len(zones_of) % POSITIONS_AT_A_TIME == 0:
            await trio.lowlevel.checkpoint()
    maintenance_rows = await _rows(
        transaction, plain_tables.MAINTENANCE, {event.maintenance_id for event in events}
    )
    by_device = {row.id: row for row in device_rows}
    by_position = {row.id: row for row in position_rows}
    filmed = {event.device_id for event in events if cameras_of(event, by_position.get(event.position_id))}
    cameras = await camera_names.names_of(transaction, filmed)
    driver_ids = {event.id: _driver_id(event, by_position.get(event.position_id)) for event in events}
    names: dict[str, str] = {}
    if wanted := set(driver_ids.values()) - {""}:
        names = await notifications.driver_names(transaction, wanted)
    return [
        EventFacts(
            event=event,
            device=by_device.get(event.device_id),
            position=by_position.get(event.position_id),
            geofence=geofence_rows.get(event.geofence_id),
            zones=zones_of.get(event.position_id, ()),
            maintenance=maintenance_rows.get(event.maintenance_id),
            driver=names.get(driver_ids[event.id], driver_ids[event.id]),
            camera_names=cameras[event.device_id],
            link=f"{link}/event/{event.id}" if link else "",
        )
        for event in events
    ]


async def _seen_zones(
    transaction: Queries, facts: Sequence[EventFacts], notified: Mapping[int, _Notified]
) -> Mapping[tuple[int, int], int]:
    """Return the smallest zone of each event that each of its users is linked to."""
    zones = {each.event.id: each.named_zones for each in facts if each.named_zones}
    return await notifications.first_seen_zones(
        transaction,
        {event_id: [zone.id for zone in found] for event_id, found in zones.items()},
        {event_id: notified[event_id].user_ids for event_id in zones},
    )


async def _rows(transaction: Queries, table: Any, ids: set[int]) -> dict[int, Any]:  # noqa: ANN401 - any table
    wanted = ids - {0}
    return {row.id: row for row in await table.fetch_many(transaction, wanted)} if wanted else {}


def _driver_id(event: Event, position: Position | None) -> str:
    found = event.attributes.get("driverUniqueId")
    if found is None and position is not None:
        found = position.attributes.get("driverUniqueId")
    return found if isinstance(found, str) else ""


async def _commands(
    transaction: Queries, events: Mapping[int, Event], notified: Mapping[int, _Notified]
) -> tuple[CommandDelivery, ...]:
    """Return each saved command once for an event, with the first user who may send it."""
    wanted = {
        (user_id, command_id)
        for each in notified.values()
        for command_id, user_ids in each.commands.items()
        for user_id in user_ids
    }
    if not wanted:
        return ()
    permitted = await notifications.command_senders(transaction, sorted(wanted))
    saved = await commands.TABLE.fetch_many(transaction, {command_id for _, command_id in wanted})
    by_id = {command.id: command for command in saved}
    found = []
    for event_id, each in notified.items():
        for command_id, user_ids in each.commands.items():
            sender = next((user for user in user_ids if (user, command_id) in permitted), 0)
            if sender and command_id in by_id:
                device_id = events[event_id].device_id
                found.append(CommandDelivery(event_id, device_id, by_id[command_id], sender))
    return tuple(found)
