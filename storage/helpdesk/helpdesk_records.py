"""The rows of companies, of what they configure, and of their tickets (docs/helpdesk.md).

As in storage/records.py: field names in camel case in JSON, references 0 if unset, aware UTC times.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec

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
    unique_id: str = ""
    """Unique, unless it is empty."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class Branch(msgspec.Struct, frozen=True, rename="camel"):
    """A place of a company."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    unique_id: str = ""
    """Unique in the company, unless it is empty."""
    disabled: bool = False
    attributes: dict[str, Any] = {}
    """`zone` is what statistics group branches by."""


class Team(msgspec.Struct, frozen=True, rename="camel"):
    """Users who handle tickets of a company."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    unique_id: str = ""
    """Unique in the company, unless it is empty."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TeamMember(msgspec.Struct, frozen=True, rename="camel"):
    """What is shown of a user who is a member of a team."""

    id: int
    name: str
    email: str


class Contact(msgspec.Struct, frozen=True, rename="camel"):
    """A person whom tickets are handled for."""

    id: int = 0
    company_id: int = 0
    branch_id: int = 0
    user_id: int = 0
    """The user that this person is."""
    driver_id: int = 0
    """The driver that this person is."""
    name: str = ""
    email: str = ""
    phone: str = ""
    unique_id: str = ""
    """Unique in the company, unless it is empty."""
    language: str = ""
    timezone: str = ""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TicketCategory(msgspec.Struct, frozen=True, rename="camel"):
    """What tickets are about; a tree."""

    id: int = 0
    company_id: int = 0
    parent_id: int = 0
    name: str = ""
    team_id: int = 0
    """New tickets start with this team."""
    priority_id: int = 0
    """New tickets start with this priority."""
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
    """Business minutes; 0: no target."""
    resolution_minutes: Minutes = 0
    """Business minutes; 0: no target."""
    calendar_id: int = 0
    """Its events are the business hours; 0: every minute counts."""
    disabled: bool = False
    attributes: dict[str, Any] = {}


class TicketStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A step of a company's workflow."""

    id: int = 0
    company_id: int = 0
    name: str = ""
    kind: str = ""
    """What the server understands by it: new, open, pending, resolved, closed or cancelled."""
    sort_order: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)] = 0
    disabled: bool = False
    attributes: dict[str, Any] = {}
    """`next` holds the ids of the statuses that may follow: absent means any, an empty list none."""


class Ticket(msgspec.Struct, frozen=True, rename="camel"):
    """A ticket as the API shows it."""

    id: int = 0
    number: int = 0
    """1, 2, 3 … in its company."""
    unique_id: str = ""
    company_id: int = 0
    branch_id: int = 0
    contact_id: int = 0
    device_id: int = 0
    category_id: int = 0
    priority_id: int = 0
    status_id: int = 0
    status_kind: str = ""
    team_id: int = 0
    assignee_id: int = 0
    reporter_id: int = 0
    channel: str = "api"
    event_id: int = 0
    position_id: int = 0
    maintenance_id: int = 0
    geofence_id: int = 0
    parent_id: int = 0
    subject: str = ""
    description: str = ""
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    status_changed_at: datetime = EPOCH
    first_response_at: datetime | None = None
    resolved_at: datetime | None = None
    closed_at: datetime | None = None
    reopened_at: datetime | None = None
    last_contact_at: datetime | None = None
    last_agent_at: datetime | None = None
    first_response_due: datetime | None = None
    resolution_due: datetime | None = None
    first_response_breached: bool = False
    resolution_breached: bool = False
    sla_paused: bool = False
    escalated_at: datetime | None = None
    reopen_count: int = 0
    comment_count: int = 0
    version: int = 1
    attributes: dict[str, Any] = {}


class TicketEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An entry of a ticket's history."""

    id: int = 0
    ticket_id: int = 0
    event_time: datetime = EPOCH
    """When it holds; for a breach its due time."""
    created_at: datetime = EPOCH
    """When it was written."""
    type: str = ""
    actor: str = "system"
    """`user`, `contact`, `device` or `system`."""
    user_id: int = 0
    contact_id: int = 0
    field: str = ""
    from_: Any = msgspec.field(default=None, name="from")
    to: Any = None
    text: str = ""
    internal: bool = False
    version: int = 0
    """The version of the ticket that this entry made."""
    attributes: dict[str, Any] = {}


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
