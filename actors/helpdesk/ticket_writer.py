"""Writes what changes make of tickets: rows, history, pauses, breaches, mails and webhook messages.

All in the transaction that has locked the tickets, in a few statements for any number of them. `announce`
comes after its commit.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.facts import Change, TicketFacts, TicketMessage
from motorpool.actors.helpdesk.webhook_body import message_rows, wanted_messages
from motorpool.actors.helpdesk.webhook_settings import KEY, WebhookSettings, read_settings
from motorpool.actors.mailings.ticket_mails import TicketMail, TicketMails
from motorpool.actors.messages.changes import TicketChanged
from motorpool.actors.messages.tickets import (
    TICKET_CLOCK,
    WEBHOOK_SENDER,
    TicketMessagesWaiting,
    WakeTicketClock,
)
from motorpool.runtime import ActorError, Kind, System
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox
from motorpool.storage.helpdesk import tickets
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent

M = TypeVar("M")

_REFERENCES = frozenset(
    {"branch_id", "contact_id", "device_id", "category_id", "priority_id", "team_id", "assignee_id"}
    | {"reporter_id", "parent_id"}
)
"""References that are null in the table where they are 0."""
FACTS_AT_A_TIME = 1000
"""Facts that are published together: their followers look at all of them without a pause."""
_KEPT_IF_SAME = ("subject", "description", "attributes")


async def write(
    transaction: Queries, changes: Sequence[Change], now: datetime, mails: TicketMails | None = None
) -> list[Change]:
    """Write changes of tickets that this transaction has locked, and return them with the ids of entries.

    Without `mails` nobody is mailed.

    Raises:
        Conflict: Another ticket of the company has the same `uniqueId`.
        StatementRejected: A reference is gone.
    """
    at = to_milliseconds(now)
    moved = [change for change in changes if _differs(change)]
    if not moved:
        return list(changes)
    setups = {change.outcome.setup.company.id: change.outcome.setup for change in moved}.values()
    webhooks = {each.company.id: read_settings(each.company.attributes) for each in setups}
    wanted = [
        wanted_messages(webhooks[change.outcome.ticket.company_id], change.outcome.messages)
        for change in moved
    ]
    stored: dict[int, int] = {}
    for is_new, store in ((True, tickets.insert), (False, tickets.update)):
        part = [
            (change, sent)
            for change, sent in zip(moved, wanted, strict=True)
            if (change.facts is None) == is_new
        ]
        if part:
            entries = [
                (change.outcome.ticket.company_id, entry)
                for change, _ in part
                for entry in change.outcome.entries
            ]
            ids = await store(transaction, [_row(change, sent) for change, sent in part], entries)
            stored |= {id(entry): number for (_, entry), number in zip(entries, ids, strict=True)}
    await _write_pauses(transaction, moved)
    breaches = [
        (outcome.ticket.company_id, outcome.ticket.id, breach.target, breach.due)
        for _, outcome in moved
        for breach in outcome.breaches
    ]
    if breaches:
        await tickets.insert_breaches(transaction, breaches, at)
    await _enqueue(transaction, moved, wanted, webhooks, stored, at)
    if mails is not None:
        await mails.enqueue(
            transaction,
            [
                TicketMail(notice.kind, notice.user_id, ticket.id, ticket.number, ticket.subject)
                for change in moved
                for ticket in (change.outcome.ticket,)
                for notice in change.outcome.notices
            ],
            now=at,
        )
    return [_with_ids(change, stored) for change in changes]


def _differs(change: Change) -> bool:
    before, after = change.facts, change.outcome
    return (
        before is None
        or bool(after.entries)
        or (before.first_response, before.resolution, before.next_clock_at, before.pauses)
        != (after.first_response, after.resolution, after.next_clock_at, after.pauses)
    )


def _row(change: Change, messages: Sequence[TicketMessage]) -> dict[str, Any]:
    """Return the columns of a ticket."""
    facts, outcome = change
    columns: dict[str, Any] = msgspec.structs.asdict(outcome.ticket)
    for name in _REFERENCES:
        columns[name] = columns[name] or None
    if facts is not None:
        for name in _KEPT_IF_SAME:
            if columns[name] == getattr(facts.ticket, name):
                columns[name] = None
    for target, level in (("first_response", outcome.first_response), ("resolution", outcome.resolution)):
        columns |= {
            f"{target}_credit": int(level.credit.total_seconds()),
            f"{target}_verdict": level.verdict,
            f"{target}_decided_at": level.decided_at,
            f"{target}_elapsed": level.elapsed,
            f"{target}_target": level.target_minutes,
            f"{target}_warned": level.warned,
        }
    columns["next_clock_at"] = outcome.next_clock_at
    columns["message_sequence"] = (facts.message_sequence if facts else 0) + len(messages)
    return columns


async def _write_pauses(transaction: Queries, changes: Sequence[Change]) -> None:
    ended: dict[int, datetime] = {}
    begun = []
    for facts, outcome in changes:
        before = {pause.id: pause for pause in facts.pauses} if facts else {}
        for pause in outcome.pauses:
            if not pause.id:
                begun.append((outcome.ticket.company_id, outcome.ticket.id, pause))
            elif pause.ends is not None and before[pause.id].ends != pause.ends:
                ended[pause.id] = pause.ends
    if ended:
        await tickets.close_pauses(transaction, ended)
    if begun:
        await tickets.insert_pauses(transaction, begun)


async def _enqueue(
    transaction: Queries,
    changes: Sequence[Change],
    wanted: Sequence[Sequence[TicketMessage]],
    webhooks: dict[int, WebhookSettings | None],
    stored: dict[int, int],
    now: datetime,
) -> None:
    rows: list[outbox.TicketMessage] = []
    for change, messages in zip(changes, wanted, strict=True):
        webhook = webhooks[change.outcome.ticket.company_id]
        if webhook is not None:
            rows += message_rows(
                webhook,
                [_message_with_id(message, stored) for message in messages],
                sequence=change.facts.message_sequence if change.facts else 0,
                now=now,
            )
    await outbox.enqueue_for_companies(transaction, rows, now=now)


def _message_with_id(message: TicketMessage, stored: dict[int, int]) -> TicketMessage:
    if message.event is None:
        return message
    return msgspec.structs.replace(message, event=_entry_with_id(message.event, stored))


def _entry_with_id(entry: TicketEvent, stored: dict[int, int]) -> TicketEvent:
    return msgspec.structs.replace(entry, id=stored[id(entry)])


def _with_ids(change: Change, stored: dict[int, int]) -> Change:
    entries = tuple(_entry_with_id(entry, stored) for entry in change.outcome.entries)
    return change._replace(outcome=msgspec.structs.replace(change.outcome, entries=entries))


class Announcement(NamedTuple):
    """What is published and woken after the commit of changes."""

    facts: tuple[TicketChanged, ...]
    wake_at: datetime | None
    """When the ticket clock has to look at one of them, at the earliest."""
    companies: frozenset[int]
    """Companies whose webhooks have messages waiting."""
    has_mails: bool


def announcement_of(changes: Sequence[Change]) -> Announcement:
    """Return the announcement of changes that were written."""
    changed = [change for change in changes if change.outcome.entries]
    instants = [
        change.outcome.next_clock_at for change in changes if change.outcome.next_clock_at is not None
    ]
    companies = frozenset(
        change.outcome.setup.company.id
        for change in changed
        if change.outcome.messages and KEY in change.outcome.setup.company.attributes
    )
    return Announcement(
        tuple(_fact(change) for change in changed),
        min(instants, default=None),
        companies,
        any(change.outcome.notices for change in changed),
    )


async def announce(system: System, changes: Sequence[Change]) -> None:
    """Publish what was committed, and wake the actors that have work with it; after the commit."""
    await publish_announcement(system, announcement_of(changes))


async def publish_announcement(system: System, announcement: Announcement) -> None:
    """Publish changes, and wake the actors that have work with them; after the commit."""
    if announcement.wake_at is not None:
        _wake(system, TICKET_CLOCK, WakeTicketClock(announcement.wake_at))
    if announcement.companies:
        _wake(system, WEBHOOK_SENDER, TicketMessagesWaiting(announcement.companies))
    if announcement.has_mails:
        _wake(system, OUTBOX, OutboxFilled())
    facts = announcement.facts
    for start in range(0, len(facts), FACTS_AT_A_TIME):
        await publish_changes(system, *facts[start : start + FACTS_AT_A_TIME])


def _wake(system: System, kind: Kind[None, M], message: M) -> None:
    """Wake an actor; one that is not there finds its work in the tables when it comes back."""
    with suppress(ActorError):
        system.ref(kind).offer(message)


def _fact(change: Change) -> TicketChanged:
    ticket: Ticket = change.outcome.ticket
    return TicketChanged(
        ticket.id, "created" if change.facts is None else "updated", ticket.company_id, ticket.version
    )


async def write_deletion(transaction: Queries, facts: TicketFacts, now: datetime) -> None:
    """Delete a ticket that this transaction has locked, with its history; its webhook gets a message."""
    ticket = facts.ticket
    await tickets.delete(transaction, ticket.company_id, ticket.id, now=now)
    webhook = read_settings(facts.setup.company.attributes)
    if webhook is not None:
        wanted = wanted_messages(webhook, [TicketMessage("ticket.deleted", None, (), ticket)])
        rows = message_rows(webhook, wanted, sequence=facts.message_sequence, now=now)
        await outbox.enqueue_for_companies(transaction, rows, now=now)


async def announce_deletion(system: System, deleted: TicketChanged) -> None:
    """Publish that a ticket was deleted, and wake the sender of its message; after the commit."""
    _wake(system, WEBHOOK_SENDER, TicketMessagesWaiting(frozenset({deleted.company_id})))
    await publish_changes(system, deleted)
