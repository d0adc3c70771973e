"""The messages to the webhook of a company, and its test (docs/ticket-webhooks.md#deliveries)."""

import secrets
from typing import Annotated, Literal

import msgspec
from quart import Response

from motorpool.actors.deliveries.turn import attempt_once
from motorpool.actors.helpdesk.webhook_body import test_body
from motorpool.actors.helpdesk.webhook_settings import read_settings
from motorpool.actors.messages.tickets import WEBHOOK_SENDER, TicketMessagesWaiting
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.api.request_limits import count
from motorpool.api.resources.helpdesk.caller_membership import membership_of, require_manager
from motorpool.storage.deliveries import ticket_log
from motorpool.storage.deliveries.outbox import ticket_message_id
from motorpool.storage.deliveries.ticket_log import Delivery
from motorpool.storage.helpdesk.company_tables import COMPANIES
from motorpool.storage.helpdesk.helpdesk_records import Company
from motorpool.storage.records import OptionalText

OPERATIONS = Operations("companies")

State = Literal["waiting", "delivered", "failed", "dropped"]


class DeliveriesQuery(
    msgspec.Struct, frozen=True, rename={"ticket_id": "ticketId", "start": "from", "end": "to"}
):
    """Which messages are listed."""

    state: tuple[State, ...] = ()
    """Only messages in these states."""
    ticket_id: Id = 0
    """Only messages about this ticket."""
    start: Instant | None = None
    """Only messages created at or after this instant."""
    end: Instant | None = None
    """Only messages created until this instant."""
    limit: PageSize = 100
    """Maximum number of messages; 0 is 1000."""
    offset: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    """Number of messages to skip."""


class WebhookTest(msgspec.Struct, frozen=True):
    """How the test of a webhook went."""

    delivered: bool
    """Whether the message was delivered."""
    error: OptionalText
    """`dns`, `blocked`, `connect`, `tls`, `timeout` or `status`; null if delivered."""
    milliseconds: int | None = None
    """How long it took; null for all but administrators."""
    address: str | None = None
    """The IP address that was connected to; null for all but administrators."""
    status: int | None = None
    """The HTTP status of the answer; null for all but administrators."""
    answer: str | None = None
    """The beginning of the answer; null for all but administrators."""


@OPERATIONS.operation(
    "GET", "/companies/{id}/webhook/deliveries", query=DeliveriesQuery, answer=list[Delivery]
)
async def list_webhook_deliveries(call: Call) -> Response:
    """The messages to the webhook of a company and the attempts to deliver them; for its managers."""
    company = await _managed(call)
    query = call.query(DeliveriesQuery)
    async with call.turn:
        found = await ticket_log.page(
            call.context.database,
            company.id,
            states=query.state,
            ticket_id=query.ticket_id,
            start=query.start,
            end=query.end,
            limit=query.limit,
            offset=query.offset,
        )
    return await as_json_array(call.in_turns(slices_of(found)))


@OPERATIONS.operation(
    "POST", "/companies/{id}/webhook/deliveries/{deliveryId}/retry", answer=Delivery, errors=(400, 404)
)
async def retry_webhook_delivery(call: Call) -> Response:
    """Send a message to the webhook of a company again, now; for its managers."""
    company = await _managed(call)
    database, row_id = call.context.database, call.path["deliveryId"]
    if not await ticket_log.retry(database, company.id, row_id, now=call.now):
        raise ResourceNotFound("no such message")
    found = await ticket_log.fetch(database, company.id, row_id)
    if found is None:
        raise ResourceNotFound("no such message")
    call.context.system.ref(WEBHOOK_SENDER).offer(TicketMessagesWaiting(frozenset({company.id})))
    return as_json(found)


@OPERATIONS.operation("POST", "/companies/{id}/webhook/test", answer=WebhookTest, errors=(400, 429))
async def test_webhook(call: Call) -> Response:
    """Test the webhook of a company, also if it is disabled; for managers, six times a minute."""
    company = await _managed(call)
    settings = read_settings(company.attributes)
    if settings is None:
        raise BadRequest("the company has no webhook")
    await count(call.context.limits.webhook_tests, str(company.id), "tests")
    clock = call.context.clock
    message_id = ticket_message_id(company.id, f"test{secrets.token_hex(8)}")
    attempt, error = await attempt_once(
        lambda: call.context.outgoing.ticket_webhooks.post(
            settings.url,
            test_body(company.id, call.now).encode(),
            message_id=message_id,
            secrets=settings.secrets_at(clock.now()),
            now=clock.now(),
        ),
        clock,
    )
    if not call.caller.administrator:
        # What was answered, and by which host, would make this a scanner of ports.
        return as_json(WebhookTest(error is None, attempt.error))
    return as_json(
        WebhookTest(
            error is None,
            attempt.error,
            attempt.milliseconds,
            attempt.address,
            attempt.status,
            attempt.answer,
        )
    )


async def _managed(call: Call) -> Company:
    """Return the company of the path. Raises BadRequest for all but its managers, or ResourceNotFound."""
    require_manager(await membership_of(call, call.id))
    company = await COMPANIES.fetch(call.context.database, call.id)
    if company is None:
        raise ResourceNotFound("no such company")
    assert isinstance(company, Company)
    return company
