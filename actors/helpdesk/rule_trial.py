"""What a ticket rule would have made of events (docs/ticket-rules.md#trial). Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from motorpool.actors.helpdesk.rule_selection import occurrence_of
from motorpool.actors.helpdesk.ticket_rules import TicketRule, matches
from motorpool.storage.records import Event, Maintenance

HOUR = timedelta(hours=1)


class TriedTicket(NamedTuple):
    """A ticket that the rule would have opened."""

    event: Event
    """The first event."""
    events: int
    """Events that would have joined it, the first included."""


class Trial(NamedTuple):
    """What a rule would have made of some events."""

    events: int
    """Those that the rule is about."""
    tickets: list[TriedTicket]
    """In the order in which they would have been opened."""
    muted: int
    """Events that would have opened no ticket, since the rule had opened too many in the hour."""


def try_rule(
    rule: TicketRule,
    events: Sequence[Event],
    groups: Mapping[int, Collection[int]],
    maintenances: Mapping[int, Maintenance],
    is_open: Callable[[datetime], bool],
) -> Trial:
    """Apply a rule to events by time.

    `groups` has the groups of each device with those above; `is_open` says whether the rule's calendar is
    open. How long people would have taken to resolve the tickets is not known: events join a ticket until
    `dedupeMinutes` after the last one, as if it were resolved at once. Of maintenance there is one ticket for
    each period.
    """
    dedupe = timedelta(minutes=rule.dedupe_minutes)
    latest: dict[tuple[int, str], tuple[int, datetime]] = {}
    """By device and occurrence: the place of the ticket in `opened`, and the last event."""
    opened: list[TriedTicket] = []
    concerned = muted = in_hour = 0
    hour_began: datetime | None = None
    for event in events:
        if not (matches(rule, event, groups.get(event.device_id, ())) and is_open(event.event_time)):
            continue
        concerned += 1
        key = event.device_id, occurrence_of(event, maintenances)
        at, last = latest.get(key, (-1, event.event_time))
        if at >= 0 and (key[1] or event.event_time < last + dedupe):
            opened[at] = opened[at]._replace(events=opened[at].events + 1)
            latest[key] = at, max(last, event.event_time)
            continue
        if hour_began is None or event.event_time >= hour_began + HOUR:
            hour_began, in_hour = event.event_time, 0
        in_hour += 1
        if in_hour > rule.max_per_hour:
            muted += 1
            continue
        latest[key] = len(opened), event.event_time
        opened.append(TriedTicket(event, 1))
    return Trial(concerned, opened, muted)
