"""The rows that the service levels of one ticket are shown from, read in one statement."""

from typing import NamedTuple

from motorpool.storage.database.queries import Queries, Row
from motorpool.storage.helpdesk.helpdesk_records import TicketPause
from motorpool.storage.helpdesk.tickets import CLOCK_COLUMNS, TABLE

_SELECT = f"""
    select {TABLE.select_list()}, {", ".join(CLOCK_COLUMNS)},
        array(select begins from ticket_pauses where ticket_id = tickets.id order by begins, id) as begins,
        array(select ends from ticket_pauses where ticket_id = tickets.id order by begins, id) as ends,
        array(select status_id from ticket_pauses where ticket_id = tickets.id order by begins, id) as ids,
        array(select reason from ticket_pauses where ticket_id = tickets.id order by begins, id) as reasons,
        (select attributes from ticket_events
            where ticket_id = tickets.id and type = 'escalated' order by id limit 1) as escalation
    from tickets where id = $1
"""  # noqa: S608 - constants


class ServiceLevelRows(NamedTuple):
    """A ticket with its clock, pauses and escalation."""

    row: Row
    """The columns of the record and of its clock."""
    pauses: list[TicketPause]
    """Earliest first."""
    team_id: int
    """The team it was escalated to; 0: none."""
    priority_id: int
    """The priority it was escalated to; 0: none."""


async def fetch(q: Queries, ticket_id: int) -> ServiceLevelRows | None:
    """Return what is known of a ticket; None if there is no such ticket."""
    if not 0 < ticket_id < 1 << 63:
        return None
    row = await q.fetch_row(_SELECT, ticket_id)
    if row is None:
        return None
    columns = (row[name] for name in ("begins", "ends", "ids", "reasons"))
    pauses = [TicketPause(*values) for values in zip(*columns, strict=True)]
    escalation = row["escalation"] or {}
    return ServiceLevelRows(row, pauses, escalation.get("toTeamId") or 0, escalation.get("toPriorityId") or 0)
