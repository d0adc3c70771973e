"""The service levels of one ticket as the API shows them (docs/service-levels.md#the-view). Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec.structs import replace

from motorpool.actors.helpdesk.service_levels import STOPS, Level, TargetClock, settle
from motorpool.actors.helpdesk.times import whole_second
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketPause, TicketPriority

MINUTE = timedelta(minutes=1)

State = Literal[
    "none", "running", "waiting", "paused", "noCalendarTime", "met", "overdue", "missed", "cancelled"
]


class TargetView(msgspec.Struct, frozen=True, rename="camel"):
    """One target; minutes are business minutes."""

    target_minutes: int
    """Business minutes; 0 is no target."""
    state: State
    """How it stands."""
    due: datetime | None
    """When it is or was due; null without a target and while the clock is paused."""
    done_at: datetime | None
    """When it was done; null until then."""
    elapsed_minutes: int
    """Business minutes used, rounded down."""
    remaining_minutes: int
    """Business minutes left, rounded down; negative when it is late."""
    percent: float
    """How much of the target and its credit has elapsed, to one decimal; 0 without a target."""
    breached: bool
    """Whether it was breached."""
    breached_at: datetime | None
    """When: the due time; null if it was not."""
    credit_seconds: int
    """What changes of the priority or calendar added to the target."""


class PauseView(msgspec.Struct, frozen=True, rename="camel"):
    """A pause of the resolution clock."""

    from_: datetime = msgspec.field(name="from")
    """When it began."""
    to: datetime | None
    """When it ended; null while it lasts."""
    status_id: int
    """The status in which the ticket waited; 0 with the reason outsideZone."""
    reason: str
    """pending, or outsideZone: the vehicle was outside of its zone."""
    business_minutes: int
    """Business minutes that were not counted, rounded down; until now, while the pause lasts."""


class EscalationView(msgspec.Struct, frozen=True, rename="camel"):
    """Where the ticket went when it breached first."""

    escalated_at: datetime | None = None
    """When; null if it was not."""
    team_id: int = 0
    """The team that it went to; 0 is none."""
    priority_id: int = 0
    """The priority that it got; 0 is none."""


NOT_ESCALATED = EscalationView()


class ServiceLevelView(msgspec.Struct, frozen=True, rename="camel"):
    """Both targets, with the business hours at the time of the request."""

    ticket_id: int
    priority_id: int
    """Its priority; 0 is none."""
    calendar_id: int
    """The calendar of the business hours; 0 counts every minute."""
    status_kind: str
    """The kind of its status."""
    computed_at: datetime
    """The instant of this picture."""
    in_business_hours: bool
    """Whether business minutes are counted now."""
    window_end: datetime | None
    """When the business hours end; null outside of them, or if never."""
    next_window_start: datetime | None
    """When business hours begin again; null within them, or if never."""
    first_response: TargetView
    """The first response."""
    resolution: TargetView
    """The resolution."""
    pauses: tuple[PauseView, ...]
    """Pauses of the clock of the resolution."""
    escalation: EscalationView
    """Where the ticket went when it first breached a target."""


def view(
    ticket: Ticket,
    priority: TicketPriority | None,
    levels: tuple[Level, Level],
    clocks: tuple[TargetClock, TargetClock],
    pauses: Iterable[TicketPause],
    now: datetime,
    escalation: EscalationView = NOT_ESCALATED,
) -> ServiceLevelView:
    """Return the service levels as shown at an instant, including what is due but not yet recorded."""
    (first_response, resolution), _ = settle(levels, clocks, now)
    hours = clocks[1].hours
    window_end, next_window_start = hours.window_at(now)
    cancelled = ticket.status_kind == "cancelled"
    return ServiceLevelView(
        ticket_id=ticket.id,
        priority_id=ticket.priority_id,
        calendar_id=priority.calendar_id if priority else 0,
        status_kind=ticket.status_kind,
        computed_at=whole_second(now),
        in_business_hours=hours.is_open(now),
        window_end=_second_or_none(window_end),
        next_window_start=_second_or_none(next_window_start),
        first_response=_target(first_response, clocks[0], now, cancelled=cancelled),
        resolution=_target(resolution, clocks[1], now, cancelled=cancelled),
        pauses=tuple(
            PauseView(
                from_=whole_second(each.begins),
                to=_second_or_none(each.ends),
                status_id=each.status_id,
                reason=each.reason,
                business_minutes=hours.seconds_between(each.begins, each.ends or now) // MINUTE,
            )
            for each in pauses
            if each.reason not in STOPS
        ),
        escalation=replace(
            escalation, escalated_at=_second_or_none(escalation.escalated_at or ticket.escalated_at)
        ),
    )


def _target(level: Level, clock: TargetClock, now: datetime, *, cancelled: bool) -> TargetView:
    done = level.done_at is not None and level.elapsed is not None
    elapsed = level.elapsed if done and level.elapsed is not None else clock.elapsed(now)
    budget = timedelta(minutes=level.target_minutes) + level.credit
    return TargetView(
        target_minutes=level.target_minutes,
        state=_state(level, clock, now, cancelled=cancelled),
        due=_second_or_none(level.due),
        done_at=_second_or_none(level.done_at),
        elapsed_minutes=elapsed // MINUTE,
        remaining_minutes=(budget - elapsed) // MINUTE if level.target_minutes else 0,
        # In whole thousandths, half up: floats would round 12.25 down.
        percent=(2000 * elapsed + budget) // (2 * budget) / 10 if level.target_minutes else 0.0,
        breached=level.breached,
        breached_at=_second_or_none(level.due) if level.breached else None,
        credit_seconds=level.credit // timedelta(seconds=1),
    )


def _state(level: Level, clock: TargetClock, now: datetime, *, cancelled: bool) -> State:
    if not level.target_minutes:
        return "none"
    if level.done_at is not None:
        return "missed" if level.breached else "met"
    if cancelled:
        return "cancelled"
    if level.breached:
        return "overdue"
    if clock.stands:
        return "paused"
    if level.due is None:
        return "noCalendarTime"
    return "running" if clock.hours.is_open(now) else "waiting"


def _second_or_none(at: datetime | None) -> datetime | None:
    return None if at is None else whole_second(at)
