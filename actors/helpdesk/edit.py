"""Editing the fields of a ticket (docs/tickets.md#editing)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from motorpool.actors.helpdesk.assign import assign_to
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.escalation import change_terms
from motorpool.actors.helpdesk.facts import Author, FieldChange, Outcome, TicketFacts, usable
from motorpool.actors.helpdesk.settle import settle_first
from motorpool.actors.helpdesk.status_moves import move_to, require_next
from motorpool.actors.helpdesk.zone_pause import set_outside

PLAIN = (
    "unique_id",
    "branch_id",
    "contact_id",
    "device_id",
    "category_id",
    "parent_id",
    "subject",
    "description",
)
"""Fields that are set without further consequences, but that `ZONE_FIELDS` end a pause."""
ZONE_FIELDS = frozenset({"device_id", "category_id", "branch_id"})
"""What says which vehicle has to be in which zone."""
EDITABLE = (*PLAIN, "priority_id", "team_id", "assignee_id", "status_id", "attributes")


def json_name(field: str) -> str:
    """Return the name of a field in JSON."""
    first, *others = field.split("_")
    return first + "".join(word.capitalize() for word in others)


def edit(
    facts: TicketFacts,
    author: Author,
    now: datetime,
    *,
    fields: Mapping[str, Any],
    names: Mapping[str, Mapping[int, str]] | None = None,
) -> Outcome:
    """Return the ticket with new values of some of `EDITABLE`; others stay as they are.

    Plain references are checked by the caller, who gives `names` by field and id for the history.

    Raises:
        TicketRefused: A priority, team, assignee or status cannot be set.
    """
    draft = Draft(facts, author, now)
    present = draft.ticket
    changed = {name: value for name, value in fields.items() if getattr(present, name) != value}
    if not changed:
        return draft.finish()
    settle_first(draft)
    changes = [_set(draft, name, changed[name], names or {}) for name in PLAIN if name in changed]
    if "attributes" in changed:
        changes += _set_attributes(draft, changed["attributes"])
    if "priority_id" in changed:
        changes += _set_priority(draft, changed["priority_id"])
    if not ZONE_FIELDS.isdisjoint(changed):
        set_outside(draft, is_outside=False)
    if changes:
        draft.add_message("ticket.updated", draft.latest("updated"), *changes)
    if "team_id" in changed or "assignee_id" in changed:
        assign_to(draft, changed.get("team_id"), changed.get("assignee_id"))
    if "status_id" in changed and changed["status_id"] != draft.ticket.status_id:
        status = usable("status", changed["status_id"], draft.setup.statuses)
        require_next(draft, status)
        move_to(draft, status)
    return draft.finish()


def _set(draft: Draft, name: str, value: Any, names: Mapping[str, Mapping[int, str]]) -> FieldChange:  # noqa: ANN401 - of any field
    before = getattr(draft.ticket, name)
    # A text that is absent is null in the history too.
    change = FieldChange(json_name(name), None if before == "" else before, None if value == "" else value)
    attributes = {}
    if name in names:
        known = names[name]
        attributes = {"fromName": known.get(change.before, ""), "toName": known.get(value, "")}
    draft.enter("updated", change=change, attributes=attributes)
    draft.set(**{name: value})
    return change


def _set_attributes(draft: Draft, attributes: Mapping[str, Any]) -> list[FieldChange]:
    """Replace the attributes; each key that differs has an entry of its own."""
    old = draft.ticket.attributes
    changes = [
        FieldChange(f"attributes.{key}", old.get(key), attributes.get(key))
        for key in sorted({*old, *attributes})
        if old.get(key) != attributes.get(key)
    ]
    for change in changes:
        draft.enter("updated", change=change)
    draft.set(attributes={key: value for key, value in attributes.items() if value is not None})
    return changes


def _set_priority(draft: Draft, priority_id: int) -> list[FieldChange]:
    if draft.ticket.priority_id == priority_id:
        # An escalation that fell due just now has set it.
        return []
    old, new = draft.priority, None
    if priority_id:
        new = usable("priority", priority_id, draft.setup.priorities)
    change = FieldChange("priorityId", draft.ticket.priority_id, priority_id)
    names = {"fromName": old.name if old else "", "toName": new.name if new else ""}
    draft.enter("updated", change=change, attributes=names)
    draft.set(priority_id=priority_id)
    change_terms(draft, "priority")
    return [change]
