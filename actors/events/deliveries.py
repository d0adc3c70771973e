"""Plans the deliveries of a batch of events, in the transaction that matches them with notifications."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import trio

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events.matching import concerns, notificators_of, subject_of, wanted_by
from motorpool.actors.geocoding.places import smallest_first
from motorpool.actors.work.stored_calendars import StoredCalendars, zone_of
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, server, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import receivers
from motorpool.storage.devices import commands, devices, positions
from motorpool.storage.events import notifications
from motorpool.storage.events.notifications import Match, UnmatchedEvent
from motorpool.storage.records import Command, Event, Notification, Position, ServerSettings, User

MAX_MATCHES = 4_000
"""Most matches that are read at once; of more, only the events that are complete are handled now."""
ROWS_AT_A_TIME = 10
"""Notifications that are read without a pause for other tasks: their lists may take a millisecond."""


class EventDelivery(msgspec.Struct):
    """An event and who gets it by which notificator."""

    facts: EventFacts
    recipients: dict[str, dict[int, bool]] = {}
    """Notificator -> user -> whether it is urgent."""


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
    events: tuple[EventDelivery, ...] = ()
    commands: tuple[CommandDelivery, ...] = ()
    users: dict[int, User] = {}
    paused: frozenset[tuple[int, str]] = frozenset()
    """(user, lane) of receivers for which no messages are made."""
    server: ServerSettings = ServerSettings()
    seen_zones: frozenset[tuple[int, int]] = frozenset()
    """(user, geofence) of the zones of the events and the users who are linked to them."""


async def plan_batch(
    transaction: Queries,
    waiting: Sequence[UnmatchedEvent],
    calendars: StoredCalendars,
    *,
    now: datetime,
    max_age: timedelta,
    link: str,
) -> BatchPlan:
    """Return what these events send to whom; the number of statements does not depend on how many users.

    Events that were older than `max_age` when they were stored send nothing. `link` is the console's URL.
    """
    handled = tuple(each.event.id for each in waiting)
    fresh = [each.event for each in waiting if each.event.event_time >= each.stored - max_age]
    matches = await notifications.find_matches(transaction, fresh, now=now, limit=MAX_MATCHES + 1)
    if len(matches) > MAX_MATCHES:
        last_id = matches[-1].event_id
        if last_id > matches[0].event_id:
            handled = tuple(event_id for event_id in handled if event_id < last_id)
            matches = [each for each in matches if each.event_id < last_id]
        else:
            first = next(event for event in fresh if event.id == last_id)
            handled = tuple(event_id for event_id in handled if event_id <= last_id)
            matches = await notifications.find_matches(transaction, [first], now=now)
    if not matches:
        return BatchPlan(handled)
    server_row = await server.fetch(transaction)
    selected = await _select(transaction, fresh, matches, calendars, server_row)
    if not selected:
        return BatchPlan(handled)
    user_ids = sorted({match.user_id for match, _ in selected})
    events = {event.id: event for event in fresh}
    facts = await _facts(
        transaction, [events[each] for each in sorted({m.event_id for m, _ in selected})], link
    )
    deliveries = {each.event.id: EventDelivery(each, {}) for each in facts}
    for match, notification in selected:
        urgent = notification.attributes.get("priority") is True
        for name in notificators_of(notification):
            if name != "command":
                recipients = deliveries[match.event_id].recipients.setdefault(name, {})
                recipients[match.user_id] = recipients.get(match.user_id, False) or urgent
    seen_zones: frozenset[tuple[int, int]] = frozenset()
    if zone_ids := {zone.id for each in facts for zone in each.zones}:
        seen_zones = await links.find_among(transaction, links.USER_GEOFENCE, user_ids, zone_ids)
    # Sockets have no receiver that could be paused.
    has_lanes = any(each.recipients.keys() - {"web"} for each in deliveries.values())
    return BatchPlan(
        handled,
        tuple(deliveries.values()),
        await _commands(transaction, events, selected),
        {user.id: user for user in await users.TABLE.fetch_many(transaction, user_ids)},
        frozenset(await receivers.paused(transaction, user_ids) if has_lanes else ()),
        server_row,
        seen_zones,
    )


async def _select(
    transaction: Queries,
    events: Iterable[Event],
    matches: Iterable[Match],
    calendars: StoredCalendars,
    server_row: ServerSettings,
) -> list[tuple[Match, Notification]]:
    """Return the matches whose notification concerns the event at its time."""
    by_id = {event.id: event for event in events}
    rows = await plain_tables.NOTIFICATIONS.fetch_many(
        transaction, sorted({match.notification_id for match in matches})
    )
    known = {row.id: row for row in rows}
    subjects = {event_id: subject_of(event) for event_id, event in by_id.items()}
    wanted = {}
    for notification in rows:
        wanted[notification.id] = wanted_by(notification)
        if len(wanted) % ROWS_AT_A_TIME == 0:
            await trio.lowlevel.checkpoint()
    concerned = {
        (match.event_id, match.notification_id)
        for match in matches
        if match.notification_id in known
        and concerns(wanted[match.notification_id], subjects[match.event_id])
    }
    calendar_ids = sorted({known[each].calendar_id for _, each in concerned} - {0})
    if calendar_ids:
        stored = await plain_tables.CALENDARS.fetch_many(transaction, calendar_ids)
        by_calendar = {row.id: row for row in stored}
        closed = set()
        for event_id, notification_id in concerned:
            row = by_calendar.get(known[notification_id].calendar_id)
            if row is None:
                continue
            zone = zone_of(row.attributes, server_row.attributes)
            try:
                is_covered = await calendars.covers(row, by_id[event_id].event_time, zone)
            except CalendarError:
                # Stored before such text was refused: it restricts nothing.
                continue
            if not is_covered:
                closed.add((event_id, notification_id))
        concerned -= closed
    return [
        (match, known[match.notification_id])
        for match in matches
        if (match.event_id, match.notification_id) in concerned
    ]


async def _facts(transaction: Queries, events: Sequence[Event], link: str) -> list[EventFacts]:
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
    zones_of = {
        row.id: tuple(zone for zone in zones if zone.id in (row.geofence_ids or ())) for row in position_rows
    }
    maintenance_rows = await _rows(
        transaction, plain_tables.MAINTENANCE, {event.maintenance_id for event in events}
    )
    by_device = {row.id: row for row in device_rows}
    by_position = {row.id: row for row in position_rows}
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
            link=f"{link}/event/{event.id}" if link else "",
        )
        for event in events
    ]


async def _rows(transaction: Queries, table: Any, ids: set[int]) -> dict[int, Any]:  # noqa: ANN401 - any table
    wanted = ids - {0}
    return {row.id: row for row in await table.fetch_many(transaction, wanted)} if wanted else {}


def _driver_id(event: Event, position: Position | None) -> str:
    found = event.attributes.get("driverUniqueId")
    if found is None and position is not None:
        found = position.attributes.get("driverUniqueId")
    return found if isinstance(found, str) else ""


async def _commands(
    transaction: Queries, events: dict[int, Event], selected: Iterable[tuple[Match, Notification]]
) -> tuple[CommandDelivery, ...]:
    """Return each saved command once for an event, with the first user who may send it."""
    wanted: dict[tuple[int, int], list[int]] = {}
    for match, notification in selected:
        if notification.command_id and "command" in notificators_of(notification):
            wanted.setdefault((match.event_id, notification.command_id), []).append(match.user_id)
    if not wanted:
        return ()
    pairs = sorted({(user_id, key[1]) for key, user_ids in wanted.items() for user_id in user_ids})
    permitted = await notifications.command_senders(transaction, pairs)
    saved = await commands.TABLE.fetch_many(transaction, {command_id for _, command_id in wanted})
    by_id = {command.id: command for command in saved}
    found = []
    for (event_id, command_id), user_ids in wanted.items():
        sender = next((each for each in sorted(user_ids) if (each, command_id) in permitted), 0)
        if sender and command_id in by_id:
            device_id = events[event_id].device_id
            found.append(CommandDelivery(event_id, device_id, by_id[command_id], sender))
    return tuple(found)
