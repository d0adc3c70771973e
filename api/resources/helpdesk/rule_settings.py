"""The ticket rules of a company, as they are stored with it (docs/ticket-rules.md#settings)."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.helpdesk.ticket_rules import (
    KEY,
    RuleRefused,
    TicketRule,
    followed_types,
    read_rules,
    rules_of,
    validate_change,
)
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import may_see
from motorpool.storage import plain_tables
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_rules


async def checked_rules(
    call: Call, transaction: Queries, company_id: int, old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the attributes of a company with checked rules; those that were changed are the caller's now."""
    try:
        attributes = validate_change(old, new, call.caller.id)
    except RuleRefused as error:
        raise BadRequest(f"attributes.{error}") from None
    held = {rule.id: rule for rule in rules_of(old)}
    for place, rule in enumerate(rules_of(attributes)):
        if rule != held.get(rule.id):
            await check_references(call, transaction, company_id, rule, f"attributes.{KEY}[{place}]")
    return attributes


async def check_references(
    call: Call, transaction: Queries, company_id: int, rule: TicketRule, place: str
) -> None:
    """Raise BadRequest for what a rule names and may not; `place` is what texts call the rule."""
    action = rule.then
    found = await ticket_rules.usable_references(
        transaction,
        company_id,
        branch_id=0,
        category_id=action.category_id,
        priority_id=action.priority_id,
        team_id=action.team_id,
    )
    for name, wanted, usable in (
        ("categoryId", action.category_id, found.category_id),
        ("priorityId", action.priority_id, found.priority_id),
        ("teamId", action.team_id, found.team_id),
    ):
        if wanted != usable:
            raise BadRequest(f"{place}.then.{name}: there is none in the company that is not disabled")
    calendar_id = rule.when.calendar_id
    if calendar_id and not await may_see(call, plain_tables.CALENDARS, calendar_id, transaction):
        raise BadRequest(f"{place}.when.calendarId: no access to it, or no such")


async def keep_rules(transaction: Queries, company_id: int, attributes: Mapping[str, Any]) -> None:
    """Store which events are to be left to the rules of a company that is stored."""
    ids = [rule.id for rule in rules_of(attributes)]
    await ticket_rules.set_types(transaction, company_id, followed_types(read_rules(attributes)), ids)
