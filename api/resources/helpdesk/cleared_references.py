"""Takes a row that is being deleted out of the tickets that refer to it
(docs/helpdesk.md#branches-teams-and-contacts).
"""

from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.edit import edit
from motorpool.actors.helpdesk.facts import Author, Change
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import (
    Announcement,
    announcement_of,
    publish_announcement,
    write,
)
from motorpool.api.engine.call import Call
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import configuration_uses
from motorpool.storage.helpdesk.configuration_uses import Cleared

TICKETS_AT_A_TIME = 200


async def clear_references(
    call: Call,
    transaction: Queries,
    field: Cleared,
    record_id: int,
    *,
    company_id: int = 0,
    name: str = "",
) -> None:
    """Edit the tickets that refer to a row, of one company or, with 0, of all, as if the caller did it.

    `name` is what the history calls the row; of contacts it never holds names. What follows the edits comes
    after the commit (`Call.after_commit`).
    """
    found = await configuration_uses.tickets_of(transaction, field, record_id, company_id)
    if not found:
        return
    context, now = call.context, to_milliseconds(call.now)
    attributes = {"userName": call.caller.user.name, "reason": "deleted"}
    author = Author("user", call.caller.id, True, attributes)
    names: dict[str, dict[int, str]] = {field: {record_id: name}} if name and field != "contact_id" else {}
    announcements: list[Announcement] = []
    for start in range(0, len(found), TICKETS_AT_A_TIME):
        batch = found[start : start + TICKETS_AT_A_TIME]
        facts = await lock_facts(transaction, batch, context.helpdesk.business_calendars, now=now)
        changes = [
            Change(each, edit(each, author, now, fields={field: 0}, names=names))
            for each in facts.values()
            if getattr(each.ticket, field) == record_id
        ]
        written = await write(transaction, changes, now, context.helpdesk.ticket_mails)
        announcements.append(announcement_of(written))

    async def announce() -> None:
        for each in announcements:
            await publish_announcement(context.system, each)

    call.after_commit.append(announce)
