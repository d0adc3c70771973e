"""The statistics of tickets as the API answers them (docs/tickets.md#statistics)."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from motorpool.storage.records import OptionalText

Number = Annotated[int, Meta(ge=0)]
Percent = Annotated[float, Meta(ge=0)] | None


class Volume(msgspec.Struct, frozen=True, rename="camel"):
    """How much came and went."""

    created: Number
    """Tickets that were created."""
    resolved: Number
    """Moves to resolved or closed from new, open or pending."""
    closed: Number
    """Moves to closed."""
    cancelled: Number
    """Moves to cancelled, whatever `includeCancelled`."""
    reopened: Number
    """Moves back from resolved, closed or cancelled."""
    reopen_rate: Percent
    """Percent, `reopened` of `resolved`; null without any."""
    repeat: Number
    """Tickets created within 7 days after another one of the device was resolved."""


class TargetFigures(msgspec.Struct, frozen=True, rename="camel"):
    """How a target of the service level was met; business minutes."""

    decided: Number
    """Tickets whose first verdict fell into the span."""
    met: Number
    """Tickets whose target was met."""
    breached: Number
    """Tickets whose target was breached first."""
    attainment: Percent
    """Percent met of those decided and not excused; null without any."""
    average_minutes: float | None
    """Mean of the tickets done in the span."""
    median_minutes: float | None
    """Median of the tickets done in the span."""
    p90_minutes: int | None
    """90th percentile of the tickets done in the span."""


class BreachFigures(msgspec.Struct, frozen=True, rename="camel"):
    """Breaches in the span, also of targets that had been met before a ticket was reopened."""

    first_response: Number
    """Breaches of the first response target."""
    resolution: Number
    """Breaches of the resolution target."""
    tickets: Number
    """Tickets with either."""
    excused: Number
    """Breaches named by the ticket's `attributes.slaExcused`."""


class NamedCount(msgspec.Struct, frozen=True):
    """Tickets by what they refer to."""

    id: int
    """0: none."""
    name: OptionalText
    """Its name; null for none."""
    count: int
    """How many tickets."""


class ZoneCount(msgspec.Struct, frozen=True):
    """Tickets by the zone of their branch."""

    zone: OptionalText
    """Attribute `zone` of the branch; null without one."""
    count: int
    """How many tickets."""


class AgeCount(msgspec.Struct, frozen=True):
    """Tickets by their age."""

    bucket: str
    """Days since the creation, with the lower bound."""
    count: int
    """How many tickets."""


class KindCounts(msgspec.Struct, frozen=True):
    """Tickets by the kind of their status."""

    new: int
    """Nobody has started."""
    open: int
    """Somebody works on it."""
    pending: int
    """Waiting for somebody outside the team."""


class BacklogFigures(msgspec.Struct, frozen=True, rename="camel"):
    """The tickets in a status of kind new, open or pending now."""

    total: Number
    """All of them."""
    unassigned: Number
    """Tickets without an assignee."""
    orphaned: Number
    """Tickets whose team or assignee is disabled, or whose assignee has left the team or the company."""
    paused: Number
    """Tickets in a status of kind pending."""
    outside_zone: Number
    """Tickets whose vehicle is outside of its zone."""
    overdue: Number
    """Tickets with a target that is breached and not done."""
    due_soon: Number
    """Tickets with a target that is due within the next hour."""
    by_kind: KindCounts
    """By the kind of the status."""
    by_status: list[NamedCount]
    """By the status, most first."""
    by_priority: list[NamedCount]
    """By the priority, most first."""
    by_team: list[NamedCount]
    """By the team, most first."""
    by_category: list[NamedCount]
    """By the category, most first."""
    by_assignee: list[NamedCount]
    """By the assignee, most first."""
    by_zone: list[ZoneCount]
    """By the zone, most first."""
    ageing: list[AgeCount]
    """By age, all buckets."""


class GroupFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to the tickets that have a priority or team now."""

    id: int
    """0: none."""
    name: OptionalText
    """Its name; null for none."""
    created: int
    """As `volume.created`."""
    resolved: int
    """As `volume.resolved`."""
    first_response: TargetFigures
    """The first response."""
    resolution: TargetFigures
    """The resolution."""


class DeviceFigures(msgspec.Struct, frozen=True, rename="camel"):
    """The tickets of a device that were created in the span."""

    device_id: int
    """The device, which the caller need not see."""
    created: int
    """How many."""
    repeat: int
    """As `volume.repeat`."""
    hours_between: float | None
    """Mean time from one creation to the next; null for a single ticket."""


class ZoneFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to the tickets of branches in a zone."""

    zone: OptionalText
    """Attribute `zone` of the branch; null without one."""
    created: int
    """As `volume.created`."""
    resolved: int
    """As `volume.resolved`."""
    first_response: TargetFigures
    """The first response."""
    resolution: TargetFigures
    """The resolution."""


class PeriodFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened in a day, week or month of the span."""

    start: datetime
    """Where it begins."""
    end: datetime
    """Where it ends; this instant belongs to the next one."""
    created: int
    """As `volume.created`."""
    resolved: int
    """As `volume.resolved`."""
    first_response: TargetFigures
    """The first response."""
    resolution: TargetFigures
    """The resolution."""
    backlog_at_end: int
    """Tickets that were worked on just before its end."""


class TicketStatistics(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Figures of the tickets of a company."""

    company_id: int
    """The company; 0: all."""
    start: datetime = msgspec.field(name="from")
    """Where the span begins."""
    end: datetime = msgspec.field(name="to")
    """Where it ends; this instant does not belong to it."""
    as_of: datetime
    """When the backlog was counted."""
    volume: Volume
    """How much came and went in the span."""
    first_response: TargetFigures
    """The first response."""
    resolution: TargetFigures
    """The resolution."""
    breaches: BreachFigures
    """Breaches in the span."""
    escalations: Number
    """Tickets that were escalated in the span."""
    backlog: BacklogFigures
    """The tickets that are worked on now."""
    by_priority: list[GroupFigures]
    """By the present priority, most created first."""
    by_team: list[GroupFigures]
    """By the present team, most created first."""
    by_zone: list[ZoneFigures]
    """By the zone of the present branch, most created first."""
    by_device: list[DeviceFigures]
    """The ten devices with most tickets, most created first."""
    periods: list[PeriodFigures]
    """By day, week or month, if they were asked for."""
