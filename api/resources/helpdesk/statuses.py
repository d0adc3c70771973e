"""Statuses of tickets, and which may follow which (docs/helpdesk.md#statuses)."""

import msgspec

from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import ListParameters
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.company_policy import CompanyPolicy, company_resource, narrowed
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.helpdesk import company_tables, configuration_uses
from motorpool.storage.helpdesk.helpdesk_records import STATUS_KINDS, TicketStatus

NEXT = "next"
"""The attribute that holds the statuses that may follow."""
MAX_NEXT = 1000


class StatusPolicy(CompanyPolicy[TicketStatus]):
    """Keeps the workflow whole."""

    max_rows = 200
    counted = "status_id"
    privileged = ("kind", "disabled")
    audited_attributes = (NEXT,)

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Add the filter `kind`."""
        unknown = [kind for kind in parameters.kind if kind not in STATUS_KINDS]
        if unknown:
            raise BadRequest(f"kind: not one of {', '.join(STATUS_KINDS)}")
        query = await super().list_query(call, parameters)
        if parameters.kind:
            query = narrowed(query, Condition("kind = any({0}::text[])", (list(parameters.kind),)))
        return query

    async def validate(self, sent: TicketStatus) -> TicketStatus:
        """Check the kind, and the form of `next`."""
        if sent.kind not in STATUS_KINDS:
            raise BadRequest(f"kind: not one of {', '.join(STATUS_KINDS)}")
        following = sent.attributes.get(NEXT)
        if following is None:
            rest = {key: value for key, value in sent.attributes.items() if key != NEXT}
            return msgspec.structs.replace(sent, attributes=rest)
        whole = isinstance(following, list) and all(
            isinstance(each, int) and not isinstance(each, bool) and 0 < each < 2**63 for each in following
        )
        if not whole or len(following) > MAX_NEXT:
            raise BadRequest(f"attributes.{NEXT}: not a list of at most {MAX_NEXT} ids")
        return sent

    async def prepare(
        self, call: Call, transaction: Queries, new: TicketStatus, old: TicketStatus | None
    ) -> TicketStatus:
        """Check what may follow, and that the kind of a status in use stays."""
        new = await super().prepare(call, transaction, new, old)
        if old is not None and new.kind != old.kind:
            await self.require_unused(transaction, old, "its kind cannot be changed")
        following = new.attributes.get(NEXT)
        if following is None:
            return new
        wanted = [each for each in dict.fromkeys(following) if each != new.id]
        unknown = await configuration_uses.unknown_statuses(transaction, new.company_id, wanted)
        if unknown:
            raise BadRequest(f"attributes.{NEXT}: no such status in the company: {unknown[0]}")
        return msgspec.structs.replace(new, attributes={**new.attributes, NEXT: wanted})

    async def delete(self, call: Call, transaction: Queries, old: TicketStatus) -> None:
        """Delete; no status leads to it any more. Warns of those that have become final."""
        await super().delete(call, transaction, old)
        final = await configuration_uses.forget_status(transaction, old.company_id, old.id)
        call.warning = ", ".join(f"status {each} is final now" for each in final)


STATUSES, OPERATIONS = company_resource(
    "ticketStatus",
    "ticketstatuses",
    StatusPolicy(company_tables.STATUSES, required=("kind",)),
    parameters=frozenset({"kind"}),
)
