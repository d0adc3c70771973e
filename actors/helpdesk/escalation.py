"""Escalation: where a ticket goes at its first breach, and what a change of priority means
(docs/service-levels.md#escalation, docs/service-levels.md#changes).
"""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.helpdesk import service_levels
from motorpool.actors.helpdesk.draft import Draft
from motorpool.actors.helpdesk.facts import Breach, FieldChange, fault_of
from motorpool.actors.helpdesk.service_levels import Level
from motorpool.actors.helpdesk.times import format_seconds

ESCALATE_TEAM = "escalateTeamId"
ESCALATE_PRIORITY = "escalatePriorityId"
"""The attributes of a priority that say where its tickets go."""


def escalation_priority(attributes: Mapping[str, Any]) -> int:
    """Return the priority that tickets of a priority escalate to, by its attributes; 0: none."""
    return _reference(attributes, ESCALATE_PRIORITY)


def _reference(attributes: Mapping[str, Any], key: str) -> int:
    value = attributes.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def escalate(draft: Draft) -> None:
    """Move a ticket to the team and priority that its priority names, if it names any: once for good."""
    keys = draft.priority.attributes if draft.priority is not None else {}
    team_id, priority_id = _reference(keys, ESCALATE_TEAM), escalation_priority(keys)
    if not team_id and not priority_id:
        return
    draft.set(escalated_at=draft.now)
    draft.breaches.append(Breach("escalation", draft.now))
    reasons = {}
    if team_id and (reason := fault_of("team", team_id, draft.setup.teams.get(team_id))):
        team_id, reasons["teamId"] = 0, reason
    if priority_id and (reason := fault_of("priority", priority_id, draft.setup.priorities.get(priority_id))):
        priority_id, reasons["priorityId"] = 0, reason
    if reasons:
        draft.enter("escalationSkipped", attributes={"reason": "; ".join(reasons.values())})
    changes, names = _changes(draft, team_id, priority_id)
    if not changes and reasons:
        return
    attributes: dict[str, Any] = dict(names)
    for change in changes:
        name = change.field[0].upper() + change.field[1:]
        attributes |= {f"from{name}": change.before, f"to{name}": change.after}
    entry = draft.enter("escalated", attributes=attributes)
    if priority_id and draft.ticket.priority_id != priority_id:
        draft.set(priority_id=priority_id)
        change_terms(draft, "escalation")
    draft.add_message("ticket.escalated", entry, *changes)


def _changes(draft: Draft, team_id: int, priority_id: int) -> tuple[list[FieldChange], dict[str, str]]:
    """Set the team, and return what the escalation changes, with names for the history."""
    ticket = draft.ticket
    changes: list[FieldChange] = []
    names: dict[str, str] = {}
    if team_id and team_id != ticket.team_id:
        changes.append(FieldChange("teamId", ticket.team_id, team_id))
        old = draft.setup.teams.get(ticket.team_id)
        names |= {"fromTeamName": old.name if old else "", "toTeamName": draft.setup.teams[team_id].name}
        draft.set(team_id=team_id)
        if ticket.assignee_id and not is_member(draft, ticket.assignee_id, team_id):
            changes.append(FieldChange("assigneeId", ticket.assignee_id, 0))
            draft.set(assignee_id=0)
    if priority_id and priority_id != ticket.priority_id:
        changes.append(FieldChange("priorityId", ticket.priority_id, priority_id))
        names |= {
            "fromPriorityName": draft.priority.name if draft.priority else "",
            "toPriorityName": draft.setup.priorities[priority_id].name,
        }
    return changes, names


def is_member(draft: Draft, user_id: int, team_id: int) -> bool:
    """Return whether a user is a member of a team of the company."""
    person = draft.setup.people.get(user_id)
    return person is not None and team_id in person.teams


def change_terms(draft: Draft, reason: str) -> None:
    """Compute the due times of open targets by the present priority and its business hours."""
    first, resolution = draft.clocks
    draft.first_response = _changed(
        draft,
        "firstResponseDue",
        draft.first_response,
        service_levels.change_terms(draft.first_response, first, draft.now),
        reason,
    )
    draft.resolution = _changed(
        draft,
        "resolutionDue",
        draft.resolution,
        service_levels.change_terms(draft.resolution, resolution, draft.now),
        reason,
    )


def note_terms(draft: Draft, field: str, old: Level, new: Level) -> Level:
    """Enter that terms which were edited reached the ticket, if its target or credit is not what it was."""
    if new.target_minutes != old.target_minutes:
        return _changed(draft, field, old, new, "priority")
    return _changed(draft, field, old, new, "calendar") if new.credit != old.credit else new


def note_settled(draft: Draft, field: str, old: Level, new: Level, reason: str = "") -> Level:
    """Enter the same of a level that was settled, where also a due time that moved says so."""
    seen = "calendar" if new.target_minutes == old.target_minutes else "priority"
    return _changed(draft, field, old, new, reason or seen)


def _changed(draft: Draft, field: str, old: Level, new: Level, reason: str) -> Level:
    """Enter a due time that moved, or that will have moved when the clock goes on."""
    terms = (old.due, old.target_minutes, old.credit)
    if terms != (new.due, new.target_minutes, new.credit):
        before, after = (format_seconds(due) if due else None for due in (old.due, new.due))
        attributes = {
            "reason": reason,
            "targetMinutes": new.target_minutes,
            "creditSeconds": int(new.credit.total_seconds()),
            "calendarId": draft.priority.calendar_id if draft.priority else 0,
        }
        draft.enter("slaRecalculated", change=FieldChange(field, before, after), attributes=attributes)
    return new
