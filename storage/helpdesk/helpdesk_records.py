"""The rows of companies, of what they configure, and of their tickets (docs/helpdesk.md).

As in storage/records.py: field names in camel case in JSON, references 0 and texts empty if unset, aware UTC
times.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec

from motorpool.storage.records import OptionalText

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

StatusKind = Literal["new", "open", "pending", "resolved", "closed", "cancelled"]
"""What the server understands by a status."""
STATUS_KINDS: tuple[StatusKind, ...] = get_args(StatusKind)
Target = Literal["firstResponse", "resolution"]
"""What a service level is about."""
TARGETS: tuple[Target, ...] = get_args(Target)
Minutes = Annotated[int, msgspec.Meta(ge=0, le=525_600)]
"""Of business time, at most a year of 365 days."""


class Company(msgspec.Struct, frozen=True, rename="camel"):
    """A company: what all other records of the helpdesk belong to."""

    id: int = 0
    name: str = ""
    unique_id: OptionalText = ""
    """An identifier from outside, unique among companies."""
    disabled: bool = False
    """Not to be used any more."""
    attributes: dict[str, Any] = {}
    """`roles`: a list of words, or a text with commas between them; `timezone`; `reopenDays`;
    `autoCloseDays`; `ticketWebhook`, whose secrets only managers of the company see."""


class Branch(msgspec.Struct, frozen=True, rename="camel"):
    """A place of a company."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    unique_id: OptionalText = ""
    """An identifier from outside, unique in the company."""
    disabled: bool = False
    attributes: dict[str, Any] = {}
    """`zone`: what statistics of tickets group branches by; `geofenceId`: its geofence; address, place and
    the like."""


class Team(msgspec.Struct, frozen=True, rename="camel"):
    """Users who handle tickets of a company."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    unique_id: OptionalText = ""
    """An identifier from outside, unique in the company."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TeamMember(msgspec.Struct, frozen=True, rename="camel"):
    """What is shown of a user who is a member of a team."""

    id: int
    """The user."""
    name: OptionalText
    """The user's name."""
    email: str
    """The user's e-mail address."""


class CompanyUser(msgspec.Struct, frozen=True, rename="camel"):
    """What is shown of a user who is linked to a company."""

    id: int
    """The user."""
    name: OptionalText
    """The user's name."""
    email: str
    """The user's e-mail address."""
    team_ids: tuple[int, ...]
    """The teams of the company that they are a member of."""
    agent: bool
    """Whether they are an agent of the company."""
    manager: bool
    """Whether they are a manager of the company."""
    disabled: bool
    """Whether they may not log in; no ticket is given to them."""


class Contact(msgspec.Struct, frozen=True, rename="camel"):
    """A person whom tickets are handled for."""

    id: int = 0
    company_id: int = 0
    branch_id: int = 0
    user_id: int = 0
    """The user that this person is; 0 is none."""
    driver_id: int = 0
    """The driver that this person is; 0 is none."""
    name: str = ""
    """Whom to ask for."""
    email: OptionalText = ""
    """E-mail address."""
    phone: OptionalText = ""
    """Telephone number."""
    unique_id: OptionalText = ""
    """An identifier from outside, unique in the company."""
    language: OptionalText = ""
    """Language, such as `en`; null is unknown."""
    timezone: OptionalText = ""
    """Time zone by its name in the tz database; null is unknown."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TicketCategory(msgspec.Struct, frozen=True, rename="camel"):
    """What tickets are about; a tree."""

    id: int = 0
    company_id: int = 0
    parent_id: int = 0
    """The category above it, of the same company; 0 for a root."""
    name: str = ""
    team_id: int = 0
    """The team that new tickets start with; 0 is none."""
    priority_id: int = 0
    """The priority that new tickets start with; 0 is none."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TicketPriority(msgspec.Struct, frozen=True, rename="camel"):
    """How urgent tickets are, and their service levels."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    level: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] = 0
    """1 is the most urgent."""
    first_response_minutes: Minutes = 0
    """Business minutes until the first response; 0 is no target."""
    resolution_minutes: Minutes = 0
    """Business minutes until the resolution; 0 is no target."""
    calendar_id: int = 0
    """The calendar whose events are the business hours; 0 counts every minute."""
    disabled: bool = False
    attributes: dict[str, Any] = {}
    """`escalateTeamId` and `escalatePriorityId`: where a ticket goes when it first breaches a target;
    `holidayCalendarId`: a calendar whose events are no business hours; `warnPercent`; `maxPauseMinutes`;
    `pauseFirstResponse`."""


class TicketStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A step of a company's workflow."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    """What the company calls it."""
    kind: str = ""
    """What the server understands by it: new, open, pending, resolved, closed or cancelled."""
    sort_order: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)] = 0
    """Its place among the others."""
    disabled: bool = False
    attributes: dict[str, Any] = {}
    """`next` holds the ids of the statuses that may follow: absent means any, an empty list none."""


class Ticket(msgspec.Struct, frozen=True, rename="camel"):
    """A ticket as the API shows it."""

    id: int = 0
    number: int = 0
    """1, 2, 3 … in its company."""
    unique_id: OptionalText = ""
    """An identifier from outside, unique in the company."""
    company_id: int = 0
    branch_id: int = 0
    contact_id: int = 0
    device_id: int = 0
    category_id: int = 0
    priority_id: int = 0
    status_id: int = 0
    status_kind: str = ""
    """What the status means: new, open, pending, resolved, closed or cancelled."""
    team_id: int = 0
    assignee_id: int = 0
    reporter_id: int = 0
    """The user who created it; 0 is the server."""
    channel: str = "api"
    """How it came: api, web, phone, email, device or schedule."""
    event_id: int = 0
    """The event that caused it; 0 is none."""
    position_id: int = 0
    """The position that caused it; 0 is none."""
    maintenance_id: int = 0
    """The maintenance that caused it; 0 is none."""
    geofence_id: int = 0
    """The geofence that caused it; 0 is none."""
    parent_id: int = 0
    """The ticket it belongs to or repeats; 0 is none."""
    subject: str = ""
    """What it is about, in a line."""
    description: OptionalText = ""
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    """When it was changed last."""
    status_changed_at: datetime = EPOCH
    """When its status was changed last."""
    first_response_at: datetime | None = None
    """When an agent commented first; null until then."""
    resolved_at: datetime | None = None
    """When it was resolved or closed; null since it was reopened."""
    closed_at: datetime | None = None
    """When it was closed or cancelled; null since it was reopened."""
    reopened_at: datetime | None = None
    """When it was reopened last."""
    last_contact_at: datetime | None = None
    """When the contact commented last."""
    last_agent_at: datetime | None = None
    """When an agent commented last."""
    first_response_due: datetime | None = None
    """Until when to answer; null without a target."""
    resolution_due: datetime | None = None
    """Until when to resolve; null without a target and while the clock is paused."""
    first_response_breached: bool = False
    """Whether it was not answered in time."""
    resolution_breached: bool = False
    """Whether it was once not resolved in time."""
    sla_paused: bool = False
    """Whether the clock of the resolution is paused."""
    escalated_at: datetime | None = None
    """When it was escalated."""
    reopen_count: int = 0
    """How often it was reopened."""
    comment_count: int = 0
    """How many comments it has."""
    version: int = 1
    """One more with each change."""
    attributes: dict[str, Any] = {}
    """`tags`, `positionSnapshot`, `captures`, `slaExcused`, and others freely."""


class TicketEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An entry of a ticket's history."""

    id: int = 0
    """The entry's own id."""
    ticket_id: int = 0
    event_time: datetime = EPOCH
    """When it holds; for a breach its due time."""
    created_at: datetime = EPOCH
    """When it was written."""
    type: str = ""
    """What happened: created, comment, statusChanged, …"""
    actor: str = "system"
    """Who did it: user, contact, device or system."""
    user_id: int = 0
    contact_id: int = 0
    field: OptionalText = ""
    """The field that was changed; null if there is none."""
    from_: Any = msgspec.field(default=None, name="from")
    """Its value before."""
    to: Any = None
    """Its value since."""
    text: OptionalText = ""
    """The text of a comment; null for all else."""
    internal: bool = False
    """Only for agents and managers of the company."""
    version: int = 0
    """The version of the ticket that this entry made."""
    attributes: dict[str, Any] = {}
    """By type: names at that time, kinds of statuses, reasons, targets."""


OUTSIDE_ZONE = "outsideZone"
"""The reason of pauses while the vehicle is outside of its zone."""


class TicketPause(msgspec.Struct, frozen=True):
    """A span in which the resolution clock of a ticket stands."""

    begins: datetime
    ends: datetime | None
    """None while it lasts."""
    status_id: int
    reason: str
    """`pending`, `resolved`, `closed`, `cancelled` (kinds of statuses), or `OUTSIDE_ZONE`."""
    id: int = 0
