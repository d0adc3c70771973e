"""Opens the tickets of ticket rules and adds to them, in the transaction that takes the events."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import LIVE_KINDS, Author, Change, Outcome, TicketFacts, TicketRefused
from motorpool.actors.helpdesk.rule_selection import RuleEvents, Selection
from motorpool.actors.helpdesk.ticket_creation import CreateTicket, create_ticket
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_rules import RuleCapture, TicketRule
from motorpool.actors.helpdesk.ticket_writer import write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.words.cameras import cameras_of
from motorpool.actors.words.preferences import preferences_of
from motorpool.actors.words.printable import printable_line
from motorpool.actors.words.record_json import format_time
from motorpool.actors.words.values import ValueWriter, capitalized
from motorpool.storage.accounts import server
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import camera_names, positions
from motorpool.storage.helpdesk import ticket_captures, ticket_rules
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketCategory
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.helpdesk.ticket_rules import DeviceFacts, OpenedTicket, TicketKey
from motorpool.storage.records import Event, Position

ENTRIES = 100
"""Entries about joined events that a ticket gets as events come; then one in `ENTRY_SPACING`."""
ENTRY_SPACING = timedelta(hours=1)
MAX_EVENT_IDS = 20
"""Events that an entry names."""
MAX_SUBJECT = 255
MUTED = "muted"
"""The occurrence of the ticket that says that a rule has opened too many."""
SNAPSHOT = "positionSnapshot"
RECORDING_DELAY = timedelta(seconds=10)
"""After the end of the span: devices list a recording when they have closed its file."""
LIVE_PATIENCE = timedelta(seconds=60)
"""Later live video does not show what has happened."""


class Refusal(NamedTuple):
    """A ticket that cannot be made."""

    company_id: int
    rule_id: str
    reason: str


class RuleTickets:
    """Makes of selected events what rules say.

    Args:
        calendars: the business hours of priorities.
        mails: what assignees are mailed.
        patience: how long a capture of a recording waits for its device.
    """

    def __init__(
        self, calendars: BusinessCalendars, mails: TicketMails, patience: timedelta = timedelta(days=1)
    ) -> None:
        self._calendars = calendars
        self._mails = mails
        self._patience = patience

    async def make(
        self, transaction: Queries, selection: Selection, *, now: datetime
    ) -> tuple[list[Change], list[Refusal]]:
        """Open tickets and add to open ones; return the changes, and why some tickets were not made.

        Announce the changes after the commit. New tickets come first, by company: a company is always locked
        before its tickets.
        """
        changes: list[Change] = []
        refused: list[Refusal] = []
        settings = await server.fetch(transaction)
        # Tickets have many readers.
        writer = ValueWriter(preferences_of({}, settings.attributes))
        keys = [group.key for group in selection.groups]
        opened = await ticket_rules.opened(transaction, keys)
        joining: list[tuple[RuleEvents, OpenedTicket]] = []
        for group in selection.groups:
            present, rest = opened.get(group.key), group
            causes = group.causes()
            if causes and not _joins(group, causes[0], present):
                try:
                    async with transaction.transaction() as savepoint:
                        change, present = await self._open(
                            savepoint, group, causes[0], selection, writer, now
                        )
                except TicketRefused as error:
                    refused.append(Refusal(group.key.company_id, group.rule.id, str(error)))
                    continue
                if change is None:
                    continue
                changes.append(change)
                if present is None:
                    continue
                rest = group._replace(events=[each for each in group.events if each.id > causes[0].id])
            if present is not None and rest.events:
                joining.append((rest, present))
        return changes + await self._join(transaction, joining, writer, now), refused

    async def _open(
        self,
        transaction: Queries,
        group: RuleEvents,
        event: Event,
        selection: Selection,
        writer: ValueWriter,
        now: datetime,
    ) -> tuple[Change | None, OpenedTicket | None]:
        """Open a ticket, or the one that says that the rule is muted; the latter has no row of the device."""
        key, rule = group.key, group.rule
        count = await ticket_rules.count_ticket(transaction, key.company_id, rule.id, now=now)
        if count > rule.max_per_hour and not await _is_first_muted(transaction, key, count, rule):
            return None, None
        device = selection.devices[key.device_id]
        action = rule.then
        usable = await ticket_rules.usable_references(
            transaction,
            key.company_id,
            branch_id=device.branch_id,
            category_id=action.category_id,
            priority_id=action.priority_id,
            team_id=action.team_id,
        )
        ticket = Ticket(
            company_id=key.company_id,
            category_id=usable.category_id,
            priority_id=usable.priority_id,
            team_id=usable.team_id,
            channel="device",
        )
        if count > rule.max_per_hour:
            ticket = msgspec.structs.replace(
                ticket,
                subject=f"Rule muted: {rule.name}"[:MAX_SUBJECT],
                description=f"It has opened {rule.max_per_hour} tickets within an hour; it opens no more.",
            )
        else:
            position = await _position_of(transaction, event)
            ticket = msgspec.structs.replace(
                ticket,
                branch_id=usable.branch_id,
                device_id=device.id,
                event_id=event.id,
                position_id=event.position_id,
                maintenance_id=event.maintenance_id,
                geofence_id=event.geofence_id,
                subject=await subject_of(transaction, rule, event, position, device, writer),
                description=_description(event, selection, writer),
                attributes={} if position is None else {SNAPSHOT: snapshot_of(position)},
            )
        category = TicketCategory(team_id=usable.category_team_id, priority_id=usable.category_priority_id)
        change = await create_ticket(
            transaction,
            CreateTicket(ticket, _author(rule), category),
            self._calendars,
            now=now,
            mails=self._mails,
        )
        if change is None:
            return None, None
        made = OpenedTicket(
            change.outcome.ticket.id, change.outcome.ticket.status_kind, 1, event.event_time, 0, None, False
        )
        if count > rule.max_per_hour:
            await ticket_rules.put(transaction, _muted(key), made)
            return change, None
        await ticket_rules.put(transaction, key, made)
        if rule.capture is not None:
            capture = _capture_of(rule, rule.capture, event, change.outcome.ticket, self._patience, now=now)
            await ticket_captures.ask(transaction, capture)
        return change, made

    async def _join(
        self,
        transaction: Queries,
        joining: Sequence[tuple[RuleEvents, OpenedTicket]],
        writer: ValueWriter,
        now: datetime,
    ) -> list[Change]:
        if not joining:
            return []
        ids = sorted({present.ticket_id for _, present in joining})
        facts = await lock_facts(transaction, ids, self._calendars, now=now)
        changes = []
        for group, present in joining:
            ticket = facts.get(present.ticket_id)
            if ticket is None:
                continue
            outcome, row = _joined(ticket, group, present, writer, now)
            await ticket_rules.put(transaction, group.key, row)
            if outcome is not None:
                changes.append(Change(ticket, outcome))
        return await write(transaction, changes, now, self._mails)


async def subject_of(
    q: Queries,
    rule: TicketRule,
    event: Event,
    position: Position | None,
    device: DeviceFacts,
    writer: ValueWriter,
) -> str:
    """Return the subject of the ticket that a rule opens: its own, or what happened and the device."""
    if rule.then.subject:
        return rule.then.subject
    cameras = cameras_of(event, position)
    names = await camera_names.names_of(q, {device.id} if cameras else ())
    cause = writer.with_cameras(_cause(event, writer), cameras, names[device.id])
    return f"{cause}: {device.name}"[:MAX_SUBJECT]


def _joins(group: RuleEvents, event: Event, present: OpenedTicket | None) -> bool:
    """Whether an event continues the latest ticket of its key."""
    if present is None:
        return False
    if present.status_kind in LIVE_KINDS or group.key.occurrence:
        return True
    return event.event_time < present.last_event_at + timedelta(minutes=group.rule.dedupe_minutes)


def _joined(
    facts: TicketFacts, group: RuleEvents, present: OpenedTicket, writer: ValueWriter, now: datetime
) -> tuple[Outcome | None, OpenedTicket]:
    """Return what events make of a ticket, None if they leave no entry, and its new row."""
    causes, last = group.causes(), group.events[-1]
    attributes, row = _evidence(causes, present, now) if causes else (None, present)
    note = ""
    if last not in causes and not row.is_over and facts.ticket.status_kind in LIVE_KINDS:
        # Said, and nothing more: whether the ticket is done is for people to decide.
        note = f"{_cause(last, writer)}, {writer.time(last.event_time)}"
        row = msgspec.structs.replace(row, is_over=True)
    if attributes is None and not note:
        return None, row
    said = {"eventId": last.id, "eventType": last.type}
    outcome = add_evidence(facts, _author(group.rule), now, attributes, note=note, note_attributes=said)
    return outcome, row


def _evidence(
    causes: Sequence[Event], present: OpenedTicket, now: datetime
) -> tuple[dict[str, Any] | None, OpenedTicket]:
    """Return the entry about joined events, None if there were many of late, and the new row."""
    row = msgspec.structs.replace(
        present,
        events=present.events + len(causes),
        last_event_at=max(present.last_event_at, *(event.event_time for event in causes)),
        is_over=False,
    )
    if present.entries >= ENTRIES and present.last_entry_at and now < present.last_entry_at + ENTRY_SPACING:
        return None, row
    last = causes[-1]
    attributes = {
        "count": row.events,
        "added": len(causes),
        "eventIds": [event.id for event in causes[-MAX_EVENT_IDS:]],
        "eventType": last.type,
        "positionId": last.position_id,
        "firstEventTime": format_time(min(event.event_time for event in causes)),
        "lastEventTime": format_time(max(event.event_time for event in causes)),
    }
    return attributes, msgspec.structs.replace(row, entries=row.entries + 1, last_entry_at=now)


def _muted(key: TicketKey) -> TicketKey:
    return key._replace(device_id=0, occurrence=MUTED)


async def _is_first_muted(transaction: Queries, key: TicketKey, count: int, rule: TicketRule) -> bool:
    """Whether to open the ticket that says that the rule is muted: none is open yet."""
    if count > rule.max_per_hour + 1:
        return False
    present = (await ticket_rules.opened(transaction, [_muted(key)])).get(_muted(key))
    return present is None or present.status_kind not in LIVE_KINDS


def _author(rule: TicketRule) -> Author:
    return Author(kind="device", attributes={"ruleId": rule.id, "ruleName": rule.name})


def _cause(event: Event, writer: ValueWriter) -> str:
    """Return what happened: the alarm, else the type of the event."""
    alarm = writer.alarm(event.attributes.get("alarm"), event.attributes.get("alarmDetail"))
    said = alarm if event.type == "alarm" and alarm else writer.language.names.get(event.type, event.type)
    return capitalized(printable_line(said))


def _description(event: Event, selection: Selection, writer: ValueWriter) -> str:
    """Return how severe the event is, if it has to be looked at, and what a ticket about maintenance says."""
    language = writer.language
    lines = []
    if event.review is not None and event.severity is not None:
        lines.append(f"{language.labels['severity']}: {language.severities[event.severity]}")
    if said := _maintenance(event, selection, writer):
        lines.append(said)
    return "\n".join(lines)


def _maintenance(event: Event, selection: Selection, writer: ValueWriter) -> str:
    row = selection.maintenances.get(event.maintenance_id)
    if row is None:
        return ""
    value = writer.maintained(row.type, event.attributes.get(row.type))
    return (
        f"Maintenance {row.name} is due. {writer.attribute_name(row.type)}: {value}\n"
        f"When it is done, resolve the ticket with resetMaintenance, or set start to the present {row.type}"
        f" (PUT /maintenance/{row.id})."
    )


def _capture_of(
    rule: TicketRule, wanted: RuleCapture, event: Event, ticket: Ticket, patience: timedelta, *, now: datetime
) -> TicketCapture:
    """Return the capture that a rule asks for when it opens a ticket (docs/ticket-rules.md#video).

    One of a recording waits for its device as long as `patience`.
    """
    before, after = timedelta(seconds=wanted.before_seconds), timedelta(seconds=wanted.after_seconds)
    at = now if wanted.live else min(event.event_time, now)
    not_before = now if wanted.live else max(now, at + after + RECORDING_DELAY)
    return TicketCapture(
        company_id=ticket.company_id,
        ticket_id=ticket.id,
        device_id=event.device_id,
        channel=wanted.channel,
        begins=at - before,
        ends=at + after,
        not_before=not_before,
        expires=not_before + (LIVE_PATIENCE if wanted.live else patience),
        live=wanted.live,
        rule=rule.id,
        rule_name=rule.name,
        user_id=rule.user_id,
    )


async def _position_of(transaction: Queries, event: Event) -> Position | None:
    """Return where the device was: the position of the event, else its latest."""
    if event.position_id:
        found = await positions.TABLE.fetch_many(transaction, [event.position_id])
    else:
        found = await positions.latest(transaction, [event.device_id])
    return found[0] if found else None


def snapshot_of(position: Position) -> Mapping[str, Any]:
    """Return what a ticket keeps of a position, as positions are deleted; what it lacks is left out."""
    shown: dict[str, Any] = {
        "time": format_time(position.fix_time),
        "valid": position.valid,
        "latitude": position.latitude,
        "longitude": position.longitude,
        "speed": position.speed,
        "course": position.course,
        "address": position.address,
        "odometer": position.attributes.get("odometer", position.attributes.get("totalDistance")),
        "ignition": position.attributes.get("ignition"),
    }
    return {name: value for name, value in shown.items() if value is not None}
