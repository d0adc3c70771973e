"""Which ticket rules concern which events: type and place, rights of the rule's user, and calendar."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import trio

from motorpool.actors.helpdesk.ticket_rules import KEY, TicketRule, ends, matches, read_rules
from motorpool.actors.rules.position_event import read_number
from motorpool.actors.work.stored_calendars import StoredCalendars, zone_of
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.storage import plain_tables
from motorpool.storage.accounts import server, users
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import companies, ticket_rules
from motorpool.storage.helpdesk.ticket_rules import DeviceFacts, TicketKey
from motorpool.storage.records import Event, Maintenance


class RuleEvents(NamedTuple):
    """Events of one rule about one device, and one maintenance period where that is what they are about."""

    key: TicketKey
    rule: TicketRule
    events: list[Event]
    """In the order of their ids; causes, and ends of a cause."""

    def causes(self) -> list[Event]:
        """Return the events that the rule opens tickets for."""
        return [event for event in self.events if event.type in self.rule.when.event_types]


class Selection(NamedTuple):
    """What rules are to do."""

    groups: list[RuleEvents]
    devices: Mapping[int, DeviceFacts]
    maintenances: Mapping[int, Maintenance]


NOTHING = Selection([], {}, {})


async def select(
    transaction: Queries, events: Sequence[Event], calendars: StoredCalendars, *, now: datetime
) -> Selection:
    """Return what rules are to do about these events, by company."""
    candidates = await ticket_rules.candidates(transaction, events, now=now)
    if not candidates:
        return NOTHING
    by_id = {event.id: event for event in events}
    stored = await ticket_rules.rules_of(transaction, {each.company_id for each in candidates})
    rules = {}
    for company_id, value in stored.items():
        rules[company_id] = read_rules({KEY: value})
        await trio.lowlevel.checkpoint()  # rules may be a megabyte
    devices = await ticket_rules.devices(transaction, {event.device_id for event in events})
    found = []
    for candidate in candidates:
        event = by_id[candidate.event_id]
        device = devices.get(event.device_id)
        if device is None:
            continue
        found += [
            (candidate.company_id, rule, event)
            for rule in rules.get(candidate.company_id, ())
            if rule.user_id == candidate.user_id
            and (matches(rule, event, device.group_ids) or ends(rule, event, device.group_ids))
        ]
        await trio.lowlevel.checkpoint()  # a hundred rules with long lists take a millisecond
    found = await _of_agents(transaction, found)
    found = await _within_calendars(transaction, found, calendars)
    maintenance_ids = {event.maintenance_id for _, _, event in found if event.maintenance_id}
    maintenances: dict[int, Maintenance] = {}
    if maintenance_ids:
        rows = await plain_tables.MAINTENANCE.fetch_many(transaction, sorted(maintenance_ids))
        maintenances = {row.id: row for row in rows}
    groups: dict[TicketKey, RuleEvents] = {}
    for company_id, rule, event in found:
        key = TicketKey(company_id, rule.id, event.device_id, occurrence_of(event, maintenances))
        groups.setdefault(key, RuleEvents(key, rule, [])).events.append(event)
    return Selection([groups[key] for key in sorted(groups)], devices, maintenances)


async def _of_agents(
    transaction: Queries, found: Iterable[tuple[int, TicketRule, Event]]
) -> list[tuple[int, TicketRule, Event]]:
    """Return the entries whose rule's user handles tickets of the company now."""
    kept = []
    known: dict[tuple[int, int], bool] = {}
    for company_id, rule, event in found:
        who = rule.user_id, company_id
        if who not in known:
            user = await users.TABLE.fetch(transaction, rule.user_id)
            known[who] = user is not None and (
                user.administrator
                or (await companies.membership(transaction, rule.user_id, company_id)).handles_tickets
            )
        if known[who]:
            kept.append((company_id, rule, event))
    return kept


async def _within_calendars(
    transaction: Queries, found: list[tuple[int, TicketRule, Event]], calendars: StoredCalendars
) -> list[tuple[int, TicketRule, Event]]:
    """Return the entries in the windows of their rule's calendar; a deleted calendar restricts nothing."""
    wanted = sorted({rule.when.calendar_id for _, rule, _ in found} - {0})
    if not wanted:
        return found
    rows = {row.id: row for row in await plain_tables.CALENDARS.fetch_many(transaction, wanted)}
    server_row = await server.fetch(transaction)
    kept = []
    for company_id, rule, event in found:
        row = rows.get(rule.when.calendar_id)
        if row is not None:
            zone = zone_of(row.attributes, server_row.attributes)
            with suppress(CalendarError):
                if not await calendars.covers(row, event.event_time, zone):
                    continue
        kept.append((company_id, rule, event))
    return kept


def occurrence_of(event: Event, maintenances: Mapping[int, Maintenance]) -> str:
    """Return what tells apart the tickets of one rule and device: a maintenance, its start and its period."""
    if event.type != "maintenance":
        return ""
    row = maintenances.get(event.maintenance_id)
    value = read_number(event.attributes.get(row.type)) if row is not None else None
    if row is None or value is None or row.period <= 0:
        return str(event.maintenance_id)
    return f"{row.id} {row.start:g} {math.floor((value - row.start) / row.period)}"
