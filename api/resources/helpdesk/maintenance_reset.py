"""Resets the period of maintenance when its ticket is resolved (docs/tickets.md#maintenance)."""

from typing import Any, NamedTuple

import msgspec

from motorpool.actors.helpdesk.status_moves import DONE_KINDS
from motorpool.actors.rules.position_event import read_finite
from motorpool.api.access import may_see_device
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.ticket_changes import TicketContext
from motorpool.api.resources.linked_policy import may_see
from motorpool.storage import plain_tables
from motorpool.storage.devices import positions
from motorpool.storage.records import Maintenance


class MaintenanceReset(NamedTuple):
    """A maintenance, which the transaction has locked, and where its next period begins."""

    before: Maintenance
    start: float

    def attributes(self) -> dict[str, Any]:
        """Return what the history of the ticket says."""
        return {
            "maintenanceId": self.before.id,
            "maintenanceType": self.before.type,
            "startBefore": self.before.start,
            "start": self.start,
        }


async def find_reset(context: TicketContext, status_id: int) -> MaintenanceReset:
    """Return the reset that goes with the move of a ticket to a status.

    The period begins at the value that the device has reported last.

    Raises:
        BadRequest: The caller may not change the maintenance, or there is nothing to reset.
    """
    call, transaction, ticket = context.call, context.transaction, context.ticket
    status = context.facts.setup.statuses.get(status_id)
    if status is None or status.kind not in DONE_KINDS:
        raise BadRequest("resetMaintenance: only with a status of kind resolved or closed")
    if not ticket.maintenance_id or not ticket.device_id:
        raise BadRequest("resetMaintenance: the ticket is not about the maintenance of a device")
    CHANGE["maintenance"].require(call.caller)
    maintenance = None
    if await may_see(call, plain_tables.MAINTENANCE, ticket.maintenance_id, transaction):
        maintenance = await plain_tables.MAINTENANCE.fetch(transaction, ticket.maintenance_id, lock=True)
    if maintenance is None or not await may_see_device(call, ticket.device_id):
        raise BadRequest("resetMaintenance: no access to the maintenance or the device, or no such")
    latest = await positions.latest(transaction, [ticket.device_id])
    value = read_finite(latest[0].attributes.get(maintenance.type)) if latest else None
    if value is None:
        raise BadRequest(f"resetMaintenance: the device has not reported {maintenance.type}")
    return MaintenanceReset(maintenance, value)


async def store_reset(context: TicketContext, reset: MaintenanceReset) -> None:
    """Store the beginning of the next period, with an audit row; publish the change after the commit."""
    after = msgspec.structs.replace(reset.before, start=reset.start)
    await plain_tables.MAINTENANCE.update(context.transaction, after)
    attributes = {
        "start": {"before": reset.before.start, "after": reset.start},
        "ticketId": context.ticket.id,
    }
    await record_action(
        context.call, context.transaction, "edit", "maintenance", after.id, attributes=attributes
    )
