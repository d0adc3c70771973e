"""Trials of ticket rules on the events of the last week (docs/ticket-rules.md#trial)."""

from datetime import datetime, timedelta

import msgspec
import trio
from quart import Response

from motorpool.actors.helpdesk.rule_tickets import subject_of
from motorpool.actors.helpdesk.rule_trial import TriedTicket, try_rule
from motorpool.actors.helpdesk.ticket_rules import RuleRefused, TicketRule, check_rule
from motorpool.actors.reports.names import visible_ids
from motorpool.actors.words.preferences import preferences_of
from motorpool.actors.words.values import ValueWriter
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json
from motorpool.api.resources.calendars import opening
from motorpool.api.resources.helpdesk.caller_membership import membership_of, require_manager
from motorpool.api.resources.helpdesk.rule_settings import check_references
from motorpool.api.resources.reports.requests import CallViewer
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import positions
from motorpool.storage.events import event_lists
from motorpool.storage.helpdesk import ticket_rules
from motorpool.storage.helpdesk.company_tables import COMPANIES
from motorpool.storage.records import Event, Maintenance

OPERATIONS = Operations("companies")

SPAN = timedelta(days=7)
MAX_EVENTS = 5000
"""Events of the types of the rule that are looked at: the newest."""
MAX_LISTED = 100
PLACE = "rule"
"""What texts of refusals call the rule."""


class TrialTicket(msgspec.Struct, frozen=True, rename="camel"):
    """A ticket that a rule would have opened."""

    subject: str
    """Its subject."""
    device_id: int
    """The device."""
    event_id: int
    """The event that would have opened it."""
    event_time: datetime
    """When that happened."""
    events: int
    """Events that would have joined it, the first included."""


class RuleTrial(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """What a rule would have made of the events of the last week."""

    start: datetime
    """Where the week begins; later, if there were too many events to look at all."""
    end: datetime
    """Now."""
    events: int
    """Events that the rule is about."""
    tickets: int
    """Tickets that it would have opened."""
    muted: int
    """Events that would have opened none, since the rule had opened `maxPerHour` tickets in the hour."""
    newest: list[TrialTicket]
    """The newest of these tickets, at most 100, the newest first."""


@OPERATIONS.operation(
    "POST", "/companies/{id}/ticketrules/trial", body=TicketRule, answer=RuleTrial, errors=(400,)
)
async def try_ticket_rule(call: Call) -> Response:
    """Try a ticket rule, stored or not, on the events of the last seven days; it changes nothing.

    For managers of the company. The rule has the caller's rights, as if they had edited it. Tickets count as
    resolved at once, so that further events join them for `dedupeMinutes` only. At most the newest 5,000
    events of the rule's types are looked at.
    """
    database = call.context.database
    if await COMPANIES.fetch(database, call.id) is None:
        raise ResourceNotFound("no such company")
    require_manager(await membership_of(call, call.id))
    viewer = CallViewer(call)
    rule = await call.body(TicketRule)
    try:
        # What is tried need not have a name yet.
        check_rule(msgspec.structs.replace(rule, name=rule.name or PLACE), PLACE)
    except RuleRefused as error:
        raise BadRequest(str(error)) from None
    await check_references(call, database, call.id, rule, PLACE)
    end = call.now
    start = end - SPAN
    device_ids = await viewer.select(rule.when.device_ids, rule.when.group_ids)
    is_open = await opening(call, rule.when.calendar_id, start, end)
    async with call.turn, call.context.reports.slots:
        found = await event_lists.newest(
            database,
            device_ids,
            start,
            end,
            now=end,
            limit=MAX_EVENTS,
            types=sorted(set(rule.when.event_types)),
            visible=await visible_ids(database, viewer.user),
        )
        devices = await ticket_rules.devices(
            database, await viewer.still_visible(sorted({event.device_id for event in found}))
        )
        groups = {number: facts.group_ids for number, facts in devices.items()}
        tried = [event for event in reversed(found) if event.device_id in devices]
        maintenances = await _maintenances(database, tried)
        # A rule with long lists takes up to a second.
        trial = await trio.to_thread.run_sync(try_rule, rule, tried, groups, maintenances, is_open)
    if len(found) == MAX_EVENTS:
        start = found[-1].event_time
    listed = trial.tickets[: -MAX_LISTED - 1 : -1]
    points = await positions.TABLE.fetch_many(
        database, sorted({each.event.position_id for each in listed} - {0})
    )
    by_id = {point.id: point for point in points}
    writer = ValueWriter(preferences_of({}, call.context.server.attributes))

    async def shown(ticket: TriedTicket) -> TrialTicket:
        event = ticket.event
        device = devices[event.device_id]
        position = by_id.get(event.position_id)
        subject = await subject_of(database, rule, event, position, device, writer)
        return TrialTicket(subject, device.id, event.id, event.event_time, ticket.events)

    return as_json(
        RuleTrial(
            start,
            end,
            trial.events,
            len(trial.tickets),
            trial.muted,
            [await shown(ticket) for ticket in listed],
        )
    )


async def _maintenances(q: Queries, events: list[Event]) -> dict[int, Maintenance]:
    ids = {event.maintenance_id for event in events if event.maintenance_id}
    rows = await plain_tables.MAINTENANCE.fetch_many(q, sorted(ids)) if ids else []
    return {row.id: row for row in rows}
