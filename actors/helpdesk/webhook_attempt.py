"""One attempt to send a message to the webhook of a company."""

from datetime import datetime

from motorpool.actors.deliveries.webhook import Webhooks, WebhookSession, refusal
from motorpool.actors.helpdesk.webhook_settings import WebhookSettings
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError
from motorpool.actors.http.http import HttpResponse
from motorpool.runtime import Clock
from motorpool.storage.deliveries.ticket_deliveries import Attempt

ANSWER_LENGTH = 1024
"""Characters of an answer that are logged."""


async def send_once(
    webhooks: Webhooks | WebhookSession,
    settings: WebhookSettings,
    body: str,
    *,
    message_id: str,
    clock: Clock,
) -> tuple[Attempt, OutgoingError | None]:
    """Send a message; return what is to be logged, and why it was not delivered: None if it was."""
    now, begun = clock.now(), clock.monotonic()
    answer: HttpResponse | None = None
    error: OutgoingError | None
    try:
        answer = await webhooks.post(
            settings.url,
            body.encode(),
            message_id=message_id,
            secrets=settings.secrets_at(now),
            now=now,
        )
        error = refusal(answer, now)
    except OutgoingError as raised:
        error = raised
    except Exception as raised:
        # A failure like others, so that a message that raises does not hold up the company.
        error = DeliveryRefused(type(raised).__name__)
    milliseconds = round((clock.monotonic() - begun) * 1000)
    return _attempt(now, milliseconds, answer, error), error


def _attempt(
    now: datetime, milliseconds: int, answer: HttpResponse | None, error: OutgoingError | None
) -> Attempt:
    cause = "" if error is None else error.cause or "blocked"
    if answer is None:
        address = "" if error is None else error.address
        return Attempt(time=now, milliseconds=milliseconds, address=address, error=cause)
    text = answer.content[: ANSWER_LENGTH * 4].decode(errors="replace").replace("\0", "\ufffd")
    return Attempt(
        time=now,
        milliseconds=milliseconds,
        address=answer.address,
        status=answer.status,
        error=cause,
        answer=text[:ANSWER_LENGTH],
    )
