"""The fields of tickets in requests, and their checks (docs/tickets.md#editing)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from motorpool.actors.helpdesk.edit import json_name
from motorpool.actors.words.masking import without_secrets
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.text_rules import LINES, require_plain_text
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import check_size
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_references
from motorpool.storage.helpdesk.companies import Membership
from motorpool.storage.helpdesk.helpdesk_records import TARGETS, Ticket
from motorpool.storage.helpdesk.ticket_references import Reference

MAX_SUBJECT, MAX_DESCRIPTION, MAX_UNIQUE_ID = 255, 65_536, 128
MAX_ATTRIBUTES = 128
EXCUSED = "slaExcused"
Channel = Literal["api", "web", "phone", "email", "device", "schedule"]


class TicketFields(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a ticket that clients set."""

    id: Id = 0
    unique_id: str = ""
    """An identifier from outside, unique in the company unless it is empty."""
    branch_id: Id = 0
    contact_id: Id = 0
    device_id: Id = 0
    category_id: Id = 0
    priority_id: Id = 0
    status_id: Id = 0
    team_id: Id = 0
    assignee_id: Id = 0
    parent_id: Id = 0
    """The ticket it belongs to or repeats; 0 is none."""
    subject: str = ""
    """What it is about, in a line."""
    description: str = ""
    attributes: dict[str, Any] = {}
    """`tags`, `positionSnapshot`, `captures`, `slaExcused`, and others freely."""
    version: Id = 0
    """The version that the ticket must have; 0: any. Not read for a new ticket."""


class NewTicket(TicketFields, frozen=True, rename="camel"):
    """The fields of a ticket that clients set when it is created."""

    company_id: Id = 0
    channel: Channel = "api"
    """How it came: api, web, phone, email, device or schedule."""
    event_id: Id = 0
    """The event that caused it; 0 is none."""
    position_id: Id = 0
    """The position that caused it; 0 is none."""
    maintenance_id: Id = 0
    """The maintenance that caused it; 0 is none."""
    geofence_id: Id = 0
    """The geofence that caused it; 0 is none."""
    created_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class EditedTicket(TicketFields, frozen=True, rename="camel"):
    """The fields of a ticket in an edit: those that clients set, and those that are set for ever."""

    company_id: Id = 0
    channel: Channel | None = None
    """How it came; cannot be changed."""
    event_id: Id = 0
    """The event that caused it; cannot be changed."""
    position_id: Id = 0
    """The position that caused it; cannot be changed."""
    maintenance_id: Id = 0
    """The maintenance that caused it; cannot be changed."""
    geofence_id: Id = 0
    """The geofence that caused it; cannot be changed."""


FIXED = tuple(name for name in EditedTicket.__struct_fields__ if name not in TicketFields.__struct_fields__)
"""What a ticket keeps for ever; in an edit it may be absent, or as it is."""
LENGTHS: Mapping[str, int] = {
    "subject": MAX_SUBJECT,
    "description": MAX_DESCRIPTION,
    "unique_id": MAX_UNIQUE_ID,
}
READ_ONLY = tuple(
    name for name in Ticket.__struct_fields__ if name not in {*NewTicket.__struct_fields__, "id", "version"}
)


def checked(body: TicketFields, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a body, with texts trimmed; BadRequest for one that is too long."""
    values = {name: getattr(body, name) for name in names}
    for name, longest in LENGTHS.items():
        if len(values[name]) > longest:
            raise BadRequest(f"{json_name(name)}: longer than {longest} characters")
        values[name] = values[name].strip()
    if any(letter in values["subject"] for letter in "\r\n"):
        values["subject"] = " ".join(values["subject"].split())
    _check_attributes(body.attributes)
    if "attributes" in values:
        # What is never shown is not stored either: attributes are copied into the history and to webhooks.
        values["attributes"] = without_secrets(body.attributes)
    return values


def require_plain(fields: Mapping[str, Any], old: Ticket | None) -> None:
    """Check the characters of texts that differ from those of the ticket, as `require_plain_texts`."""
    for name in LENGTHS:
        if name in fields and (old is None or fields[name] != getattr(old, name)):
            require_plain_text(json_name(name), fields[name], one_line=name in LINES)


def _check_attributes(attributes: Mapping[str, Any]) -> None:
    check_size(attributes)
    if len(attributes) > MAX_ATTRIBUTES:
        # Each that changes has an entry in the history.
        raise BadRequest(f"attributes: more than {MAX_ATTRIBUTES}")
    tags = attributes.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        raise BadRequest("attributes.tags: not a list of texts")
    excused = attributes.get(EXCUSED)
    if excused is not None and not (isinstance(excused, list) and all(each in TARGETS for each in excused)):
        raise BadRequest(f"attributes.{EXCUSED}: not a list of {' and '.join(TARGETS)}")


def require_excuser(membership: Membership, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raise BadRequest if who is no manager of the company changes what is excused."""
    if old.get(EXCUSED) != new.get(EXCUSED) and not membership.manager:
        raise BadRequest(f"attributes.{EXCUSED}: only managers of the company may do this", is_refusal=True)


async def check_references(
    call: Call, queries: Queries, company_id: int, fields: Mapping[str, Any], old: Ticket | None
) -> dict[str, dict[int, Reference]]:
    """Check references that change; return those, and what they were before, by field and id."""
    wanted: dict[str, list[int]] = {}
    for name in ticket_references.FIELDS:
        before = getattr(old, name) if old is not None else 0
        if name in fields and fields[name] != before:
            wanted[name] = [number for number in (fields[name], before) if number]
    user_id = None if call.caller.administrator else call.caller.id
    found = await ticket_references.find(queries, company_id, user_id, wanted)
    for name in wanted:
        number = fields[name]
        if not number:
            continue
        reference = found[name].get(number)
        if reference is None or not reference.visible:
            raise BadRequest(
                f"{json_name(name)}: no access to it, or no such", is_refusal=reference is not None
            )
        if reference.disabled:
            raise BadRequest(f"{json_name(name)}: it is disabled")
    parent_id = fields["parent_id"] if "parent_id" in wanted else 0
    if old and parent_id and await ticket_references.is_below(queries, company_id, old.id, parent_id):
        raise BadRequest("parentId: the ticket would lie below itself")
    return found
