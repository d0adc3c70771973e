"""Which ticket rules concern which events: type and place, rights of the rule's user, and calendar."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import trio

from motorpool.actors.helpdesk.ticket_rules import KEY, TicketRule, ends, followed_types, matches, read_rules
from motorpool.actors.rules.maintenance_due import periods_gone
from motorpool.actors.rules.position_event import read_finite
from motorpool.actors.work.open_calendars import CalendarLook, OpenCalendars
from motorpool.storage import plain_tables
from motorpool.storage.accounts import users
from motorpool.storage.database.queries import Queries
from motorpool.storage.events.waiting import WaitingEvent
from motorpool.storage.helpdesk import companies, ticket_rules
from motorpool.storage.helpdesk.ticket_rules import Candidate, DeviceFacts, TicketKey
from motorpool.storage.records import Event, Maintenance

MAX_WORK = 100
"""Tickets to open or add to in one batch, calendars aside, beyond which other events wait for the next."""
RULES_AT_A_TIME = 50
"""Rules that an event is compared with without a pause for other tasks; their lists may be long."""
KEPT_COMPANIES = 200
"""Companies whose rules are kept."""


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
    """What rules are to do about some of the events that wait."""

    handled_ids: tuple[int, ...]
    looked_at: int
    """Events from the first on, with those whose calendars have to be computed before they are handled."""
    groups: list[RuleEvents]
    devices: Mapping[int, DeviceFacts]
    maintenances: Mapping[int, Maintenance]


class KnownRules:
    """The rules of companies, kept until their companies are edited."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[int, Mapping[tuple[int, str], RulesOfType]]] = OrderedDict()
        """By company: the version of its row, and its rules by their user and the type of event."""

    async def read(self, q: Queries, company_ids: Collection[int]) -> None:
        """Have the present rules of these companies at hand."""
        present = await ticket_rules.versions(q, company_ids)
        missing = [
            number
            for number, version in present.items()
            if number not in self._known or self._known[number][0] != version
        ]
        for company_id, (version, stored) in (await ticket_rules.rules_of(q, missing)).items():
            self._known[company_id] = version, _by_type(read_rules({KEY: stored}))
            await trio.lowlevel.checkpoint()  # there may be a hundred, with long lists
        for company_id in company_ids:
            if company_id in self._known:
                self._known.move_to_end(company_id)
        while len(self._known) > max(KEPT_COMPANIES, len(company_ids)):
            self._known.popitem(last=False)

    def of(self, candidate: Candidate) -> "RulesOfType":
        """Return the rules of a user in a company that may be about events of a type."""
        _, rules = self._known.get(candidate.company_id, (0, {}))
        return rules.get((candidate.user_id, candidate.type), NO_RULES)


class RulesOfType(NamedTuple):
    """The rules of one user that events of one type concern, or that such events end the cause of."""

    anywhere: tuple[TicketRule, ...] = ()
    in_geofences: Mapping[int, tuple[TicketRule, ...]] = {}
    """By the geofences to which they are restricted."""

    def of(self, event: Event) -> Iterator[TicketRule]:
        """Yield the rules that name the type and the geofence of an event."""
        yield from self.anywhere
        yield from self.in_geofences.get(event.geofence_id, ())


NO_RULES = RulesOfType()


def _by_type(rules: Iterable[TicketRule]) -> dict[tuple[int, str], RulesOfType]:
    anywhere: dict[tuple[int, str], list[TicketRule]] = {}
    in_geofences: dict[tuple[int, str], dict[int, list[TicketRule]]] = {}
    for rule in rules:
        for kind, user_id in followed_types([rule]):
            if not rule.when.geofence_ids:
                anywhere.setdefault((user_id, kind), []).append(rule)
            for geofence_id in set(rule.when.geofence_ids):
                of_type = in_geofences.setdefault((user_id, kind), {})
                of_type.setdefault(geofence_id, []).append(rule)
    return {
        key: RulesOfType(
            tuple(anywhere.get(key, ())),
            {number: tuple(found) for number, found in in_geofences.get(key, {}).items()},
        )
        for key in anywhere.keys() | in_geofences.keys()
    }


async def select(
    transaction: Queries,
    waiting: Sequence[WaitingEvent],
    rules: KnownRules,
    calendars: OpenCalendars,
    *,
    now: datetime,
) -> Selection:
    """Return what rules are to do about the first of these events, as many as are not too much work."""
    subjects = {(each.event.device_id, each.event.type) for each in waiting}
    candidates: dict[tuple[int, str], list[Candidate]] = {}
    for candidate in await ticket_rules.candidates(transaction, subjects, now=now):
        candidates.setdefault((candidate.device_id, candidate.type), []).append(candidate)
    if not candidates:
        return Selection(tuple(each.event.id for each in waiting), len(waiting), [], {}, {})
    companies_concerned = {each.company_id for found in candidates.values() for each in found}
    await rules.read(transaction, companies_concerned)
    devices = await ticket_rules.devices(transaction, {device_id for device_id, _ in candidates})
    agents = _Agents(transaction)
    concerned: list[tuple[Event, list[tuple[int, TicketRule]]]] = []
    work = 0
    for each in waiting:
        if work >= MAX_WORK:
            break
        event = each.event
        device = devices.get(event.device_id)
        of_event: list[tuple[int, TicketRule]] = []
        for candidate in candidates.get((event.device_id, event.type), ()):
            if device is None:
                break
            found: list[tuple[int, TicketRule]] = []
            for count, rule in enumerate(rules.of(candidate).of(event), 1):
                if matches(rule, event, device.group_ids) or ends(rule, event, device.group_ids):
                    found.append((candidate.company_id, rule))
                if count % RULES_AT_A_TIME == 0:
                    await trio.lowlevel.checkpoint()
            if found and await agents.handles_tickets(candidate.user_id, candidate.company_id):
                of_event += found
            await trio.lowlevel.checkpoint()
        concerned.append((event, of_event))
        work += len(of_event)
    calendar_ids = {rule.when.calendar_id for _, found in concerned for _, rule in found}
    look = await calendars.look(transaction, calendar_ids)
    chosen, handled = _choose(concerned, look)
    maintenance_ids = {event.maintenance_id for _, _, event in chosen if event.maintenance_id}
    maintenances: dict[int, Maintenance] = {}
    if maintenance_ids:
        rows = await plain_tables.MAINTENANCE.fetch_many(transaction, sorted(maintenance_ids))
        maintenances = {row.id: row for row in rows}
    groups: dict[TicketKey, RuleEvents] = {}
    for company_id, rule, event in chosen:
        key = TicketKey(company_id, rule.id, event.device_id, occurrence_of(event, maintenances))
        groups.setdefault(key, RuleEvents(key, rule, [])).events.append(event)
    in_order = [groups[key] for key in sorted(groups)]
    return Selection(handled, len(concerned), in_order, devices, maintenances)


def _choose(
    concerned: Sequence[tuple[Event, Sequence[tuple[int, TicketRule]]]], look: CalendarLook
) -> tuple[list[tuple[int, TicketRule, Event]], tuple[int, ...]]:
    """Return what rules are to do about which events, and the events for which that is known."""
    chosen: list[tuple[int, TicketRule, Event]] = []
    handled: list[int] = []
    postponed: set[int] = set()
    for event, found in concerned:
        # All are asked, so that all that is missing is computed.
        are_open = [look.covers(rule.when.calendar_id, event.event_time) for _, rule in found]
        if None in are_open or event.device_id in postponed:
            postponed.add(event.device_id)
            continue
        chosen += [(*each, event) for each, is_open in zip(found, are_open, strict=True) if is_open]
        handled.append(event.id)
    return chosen, tuple(handled)


class _Agents:
    """Who handles tickets of which company now; each is read once."""

    def __init__(self, transaction: Queries) -> None:
        self._transaction = transaction
        self._known: dict[tuple[int, int], bool] = {}

    async def handles_tickets(self, user_id: int, company_id: int) -> bool:
        who = user_id, company_id
        if who not in self._known:
            user = await users.TABLE.fetch(self._transaction, user_id)
            self._known[who] = user is not None and (
                user.administrator
                or (await companies.membership(self._transaction, user_id, company_id)).handles_tickets
            )
        return self._known[who]


def occurrence_of(event: Event, maintenances: Mapping[int, Maintenance]) -> str:
    """Return what tells apart the tickets of one rule and device: a maintenance, its start and its period."""
    if event.type != "maintenance":
        return ""
    row = maintenances.get(event.maintenance_id)
    value = read_finite(event.attributes.get(row.type)) if row is not None else None
    if row is None or value is None or row.period <= 0:
        return str(event.maintenance_id)
    return f"{row.id} {row.start:g} {periods_gone(value, row.start, row.period)}"
