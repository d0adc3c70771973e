"""The change feed: the one way to announce what a committed transaction has changed.

Code that writes rows on which something in memory depends publishes the facts once, after the commit and
before the writer is answered:

    async with database.transaction() as transaction:
        ...
    await publish_changes(system, DeviceChanged(device.id, "created"))

The followers run in the order of `FOLLOWERS`, each awaited, so that a client that was answered reads its own
write. A follower that is not there, crashes or takes too long does not fail the writer: a new one reads
everything. Facts carry ids and names of fields, not rows: of two commits the facts may arrive in either
order, so a follower reads the present row.

To add a fact, see actors/messages/changes.py. To add a follower, handle `ApplyChanges` in an actor, say in a
function here which facts concern it, and put it into `FOLLOWERS` behind those whose answers it needs.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import trio

from motorpool.actors.messages import changes as facts
from motorpool.actors.messages.access import ACCESS
from motorpool.actors.messages.changes import Change
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.duties import DUTY_KEEPER
from motorpool.actors.messages.homes import HOMES
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.scheduling import REPORT_TIMETABLE, TIMETABLE
from motorpool.actors.messages.tickets import TICKET_RECALCULATIONS
from motorpool.actors.messages.timed_events import TIMED_EVENTS
from motorpool.actors.messages.uplink import DEVICE, DeliverQueued, DeviceMessage
from motorpool.actors.work.stored_calendars import WINDOW_FIELDS, ZONE_FIELDS
from motorpool.runtime import ActorError, Kind, System
from motorpool.storage.rules.rule_rows import RULE_LINKS

FOLLOW_SECONDS = 30.0
"""A follower has at most this long. Reading the links of 100,000 devices takes well under it."""

_RULE_LINKS = frozenset((kind.owner, kind.property) for kind in RULE_LINKS)
_CALENDARS = facts.CalendarChanged, facts.ServerChanged, facts.EverythingChanged
"""What may change the windows of a calendar: the attributes of the server name a time zone."""

Follower = Callable[[System, tuple[Change, ...]], Awaitable[None]]


def _actor(kind: Kind[None, Any], concerns: Callable[[Change], bool]) -> Follower:
    """A follower that asks the actor to apply a commit if one of its facts concerns the actor."""

    async def follow(system: System, changes: tuple[Change, ...]) -> None:
        if any(map(concerns, changes)):
            await system.ref(kind).ask(facts.ApplyChanges(changes), seconds=FOLLOW_SECONDS)

    return follow


def _any_of(*kinds: type[Change]) -> Callable[[Change], bool]:
    """All facts of these types concern the actor."""
    return lambda change: isinstance(change, kinds)


def _concerns_access(change: Change) -> bool:
    match change:
        case facts.DeviceChanged() | facts.GroupChanged():
            return change.affects_visibility
        case facts.UserChanged():
            return change.operation == "deleted"
        case facts.LinkChanged(owner="user") | facts.EverythingChanged():
            return True
        case _:
            return False


def concerns_rules(change: Change) -> bool:
    """Whether a change may give devices other rules, beside a change of their own rows."""
    match change:
        case facts.DeviceChanged():
            return change.operation == "deleted"
        case facts.GroupChanged():
            return not change.only({"name"})
        case facts.LinkChanged():
            return (change.owner, change.property) in _RULE_LINKS
        case facts.ServerChanged():
            return any(field.startswith("attributes.") for field in change.fields)
        case (
            facts.GeofenceChanged()
            | facts.AttributeChanged()
            | facts.MaintenanceChanged()
            | facts.DriverChanged()
            | facts.CalendarChanged()
            | facts.EverythingChanged()
        ):
            return True
        case _:
            return False


def _concerns_directory(change: Change) -> bool:
    if isinstance(change, facts.DeviceChanged):
        return change.operation == "deleted"
    return isinstance(change, facts.PositionsDeleted)


def _concerns_ticket_recalculations(change: Change) -> bool:
    match change:
        case facts.CalendarChanged():
            return not WINDOW_FIELDS.isdisjoint(change.fields)
        case facts.CompanyChanged():
            return "attributes.autoCloseDays" in change.fields or not ZONE_FIELDS.isdisjoint(change.fields)
        case facts.ServerChanged():
            return not ZONE_FIELDS.isdisjoint(change.fields)
        case facts.TicketPriorityChanged() | facts.EverythingChanged():
            return True
        case _:
            return False


async def _cached_rows(system: System, changes: tuple[Change, ...]) -> None:
    """Caches of rows drop those that changed."""
    system.topic(facts.COMMITTED_CHANGES).publish(changes)


async def _devices(system: System, changes: tuple[Change, ...]) -> None:
    """Device actors that are there read their row or latest position; the others do when they start."""
    for change in changes:
        message: DeviceMessage
        match change:
            case facts.DeviceChanged():
                device, message = system.ref(DEVICE, change.id), change
            case facts.PositionsDeleted():
                device, message = system.ref(DEVICE, change.device_id), change
            case facts.QueueFilled():
                device, message = system.ref(DEVICE, change.device_id), DeliverQueued()
            case _:
                continue
        if device.alive:
            with trio.move_on_after(FOLLOW_SECONDS), suppress(ActorError):
                await device.tell(message)


async def _subscribers(system: System, changes: tuple[Change, ...]) -> None:
    """Open sockets and other subscribers of the topics."""
    tickets = tuple(change for change in changes if isinstance(change, facts.TicketChanged))
    if tickets:
        system.topic(facts.TICKETS).publish(tickets)
    if len(tickets) < len(changes):
        system.topic(facts.CHANGES).publish(changes)


FOLLOWERS: tuple[Follower, ...] = (
    _cached_rows,
    _actor(facts.SETTINGS_READER, _any_of(facts.SettingsChanged, facts.EverythingChanged)),
    _actor(ACCESS, _concerns_access),
    _actor(RULE_CACHE, concerns_rules),
    _devices,
    _actor(DIRECTORY, _concerns_directory),
    _actor(HOMES, _any_of(facts.DeviceMoved, facts.EverythingChanged)),
    _actor(DUTY_KEEPER, _any_of(facts.DutyReleased, facts.ServerEnded)),
    _actor(TIMETABLE, _any_of(facts.ScheduleChanged, *_CALENDARS)),
    _actor(REPORT_TIMETABLE, _any_of(facts.ScheduledReportChanged, *_CALENDARS)),
    _actor(
        TIMED_EVENTS,
        _any_of(
            facts.DeviceChanged,
            facts.GroupChanged,
            facts.DriverChanged,
            facts.MaintenanceChanged,
            facts.GeofenceChanged,
            *_CALENDARS,
        ),
    ),
    _actor(TICKET_RECALCULATIONS, _concerns_ticket_recalculations),
    _subscribers,
)


async def publish_changes(system: System, *changes: Change) -> None:
    """Have everything in memory follow a commit of this server; returns when it has.

    Call it once for a transaction, after the commit, shielded from cancellation. Other servers of the
    database follow within milliseconds (actors/cluster/change_relay.py).
    """
    system.topic(facts.LOCAL_CHANGES).publish(changes)
    await apply_changes(system, *changes)


async def apply_changes(system: System, *changes: Change) -> None:
    """Have everything in memory follow a commit, of this or another server; returns when it has."""
    for follow in FOLLOWERS:
        # An actor that has crashed or that the stop of the server has ended holds nothing stale.
        with suppress(ActorError):
            await follow(system, changes)
