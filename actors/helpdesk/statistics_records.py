"""The statistics of tickets as the API answers them (docs/tickets.md#statistics)."""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

Number = Annotated[int, Meta(ge=0)]
Percent = Annotated[float, Meta(ge=0)] | None


class Volume(msgspec.Struct, frozen=True, rename="camel"):
    """How much came and went."""

    created: Annotated[Number, Meta(description="Tickets that were created.")]
    resolved: Annotated[Number, Meta(description="Moves to resolved or closed from new, open or pending.")]
    closed: Annotated[Number, Meta(description="Moves to closed.")]
    cancelled: Annotated[Number, Meta(description="Moves to cancelled, whatever `includeCancelled`.")]
    reopened: Annotated[Number, Meta(description="Moves back from resolved, closed or cancelled.")]
    reopen_rate: Annotated[Percent, Meta(description="Percent, `reopened` of `resolved`; null without any.")]
    repeat: Annotated[
        Number,
        Meta(description="Tickets created within 7 days after another one of the device was resolved."),
    ]


class TargetFigures(msgspec.Struct, frozen=True, rename="camel"):
    """How a target of the service level was met; business minutes."""

    decided: Annotated[Number, Meta(description="Tickets whose first verdict fell into the span.")]
    met: Annotated[Number, Meta(description="Those whose target was met.")]
    breached: Annotated[Number, Meta(description="Those whose target was breached first.")]
    attainment: Annotated[
        Percent, Meta(description="Percent met of those decided and not excused; null without any.")
    ]
    average_minutes: Annotated[float | None, Meta(description="Of the tickets done in the span.")]
    median_minutes: Annotated[float | None, Meta(description="Of the tickets done in the span.")]
    p90_minutes: Annotated[
        int | None, Meta(description="Nine tenths of the tickets done in the span took so long at most.")
    ]


class BreachFigures(msgspec.Struct, frozen=True, rename="camel"):
    """Breaches in the span, also of targets that had been met before a ticket was reopened."""

    first_response: Annotated[Number, Meta(description="Of the first response.")]
    resolution: Annotated[Number, Meta(description="Of the resolution.")]
    tickets: Annotated[Number, Meta(description="Tickets with either.")]
    excused: Annotated[Number, Meta(description="Those that `attributes.slaExcused` of the ticket names.")]


class NamedCount(msgspec.Struct, frozen=True):
    """Tickets by what they refer to."""

    id: Annotated[int, Meta(description="0: none.")]
    name: Annotated[str, Meta(description="Its name; empty for none.")]
    count: Annotated[int, Meta(description="How many tickets.")]


class ZoneCount(msgspec.Struct, frozen=True):
    """Tickets by the zone of their branch."""

    zone: Annotated[str, Meta(description="Attribute `zone` of the branch; empty without one.")]
    count: Annotated[int, Meta(description="How many tickets.")]


class AgeCount(msgspec.Struct, frozen=True):
    """Tickets by their age."""

    bucket: Annotated[str, Meta(description="Days since the creation, with the lower bound.")]
    count: Annotated[int, Meta(description="How many tickets.")]


class KindCounts(msgspec.Struct, frozen=True):
    """Tickets by the kind of their status."""

    new: Annotated[int, Meta(description="Nobody has started.")]
    open: Annotated[int, Meta(description="Somebody works on it.")]
    pending: Annotated[int, Meta(description="Waiting for somebody outside the team.")]


class BacklogFigures(msgspec.Struct, frozen=True, rename="camel"):
    """The tickets in a status of kind new, open or pending now."""

    total: Annotated[Number, Meta(description="All of them.")]
    unassigned: Annotated[Number, Meta(description="Those without an assignee.")]
    orphaned: Annotated[
        Number,
        Meta(
            description="Those whose team or assignee is disabled, or whose assignee has left the team or"
            " the company."
        ),
    ]
    paused: Annotated[Number, Meta(description="Those in a status of kind pending.")]
    outside_zone: Annotated[Number, Meta(description="Those whose vehicle is outside of its zone.")]
    overdue: Annotated[Number, Meta(description="Those with a target that is breached and not done.")]
    due_soon: Annotated[Number, Meta(description="Those with a target that is due within the next hour.")]
    by_kind: Annotated[KindCounts, Meta(description="By the kind of the status.")]
    by_status: Annotated[list[NamedCount], Meta(description="By the status, most first.")]
    by_priority: Annotated[list[NamedCount], Meta(description="By the priority, most first.")]
    by_team: Annotated[list[NamedCount], Meta(description="By the team, most first.")]
    by_category: Annotated[list[NamedCount], Meta(description="By the category, most first.")]
    by_assignee: Annotated[list[NamedCount], Meta(description="By the assignee, most first.")]
    by_zone: Annotated[list[ZoneCount], Meta(description="By the zone, most first.")]
    ageing: Annotated[list[AgeCount], Meta(description="By age, all buckets.")]


class GroupFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to the tickets that have a priority or team now."""

    id: Annotated[int, Meta(description="0: none.")]
    name: Annotated[str, Meta(description="Its name; empty for none.")]
    created: Annotated[int, Meta(description="As `volume.created`.")]
    resolved: Annotated[int, Meta(description="As `volume.resolved`.")]
    first_response: Annotated[TargetFigures, Meta(description="The first response.")]
    resolution: Annotated[TargetFigures, Meta(description="The resolution.")]


class DeviceFigures(msgspec.Struct, frozen=True, rename="camel"):
    """The tickets of a device that were created in the span."""

    device_id: Annotated[int, Meta(description="The device, which the caller need not see.")]
    created: Annotated[int, Meta(description="How many.")]
    repeat: Annotated[int, Meta(description="As `volume.repeat`.")]
    hours_between: Annotated[
        float | None, Meta(description="Mean time from one creation to the next; null for a single ticket.")
    ]


class ZoneFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened to the tickets of branches in a zone."""

    zone: Annotated[str, Meta(description="Attribute `zone` of the branch; empty without one.")]
    created: Annotated[int, Meta(description="As `volume.created`.")]
    resolved: Annotated[int, Meta(description="As `volume.resolved`.")]
    first_response: Annotated[TargetFigures, Meta(description="The first response.")]
    resolution: Annotated[TargetFigures, Meta(description="The resolution.")]


class PeriodFigures(msgspec.Struct, frozen=True, rename="camel"):
    """What happened in a day, week or month of the span."""

    start: Annotated[datetime, Meta(description="Where it begins.")]
    end: Annotated[datetime, Meta(description="Where it ends; this instant belongs to the next one.")]
    created: Annotated[int, Meta(description="As `volume.created`.")]
    resolved: Annotated[int, Meta(description="As `volume.resolved`.")]
    first_response: Annotated[TargetFigures, Meta(description="The first response.")]
    resolution: Annotated[TargetFigures, Meta(description="The resolution.")]
    backlog_at_end: Annotated[int, Meta(description="Tickets that were worked on just before its end.")]


class TicketStatistics(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Figures of the tickets of a company."""

    company_id: Annotated[int, Meta(description="The company; 0: all.")]
    start: Annotated[datetime, Meta(description="Where the span begins.")] = msgspec.field(name="from")
    end: Annotated[datetime, Meta(description="Where it ends; this instant does not belong to it.")] = (
        msgspec.field(name="to")
    )
    as_of: Annotated[datetime, Meta(description="When the backlog was counted.")]
    volume: Annotated[Volume, Meta(description="How much came and went in the span.")]
    first_response: Annotated[TargetFigures, Meta(description="The first response.")]
    resolution: Annotated[TargetFigures, Meta(description="The resolution.")]
    breaches: Annotated[BreachFigures, Meta(description="Breaches in the span.")]
    escalations: Annotated[Number, Meta(description="Tickets that were escalated in the span.")]
    backlog: Annotated[BacklogFigures, Meta(description="The tickets that are worked on now.")]
    by_priority: Annotated[
        list[GroupFigures], Meta(description="By the present priority, most created first.")
    ]
    by_team: Annotated[list[GroupFigures], Meta(description="By the present team, most created first.")]
    by_zone: Annotated[
        list[ZoneFigures], Meta(description="By the zone of the present branch, most created first.")
    ]
    by_device: Annotated[
        list[DeviceFigures], Meta(description="The ten devices with most tickets, most created first.")
    ]
    periods: Annotated[
        list[PeriodFigures], Meta(description="By day, week or month, if they were asked for.")
    ]
