"""Test messages, sent at once and not by the outbox, so that their sender sees what comes of them."""

import secrets

import msgspec

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.events.rendering import reader_of, render
from motorpool.actors.http.errors import LimitExceeded, OutgoingError
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest, TooManyRequests
from motorpool.storage.deliveries import receivers
from motorpool.storage.records import Event, User


async def send_test_message(call: Call, name: str, user: User, *, by_server: bool = False) -> str:
    """Send a test message to a user by a notificator, and return the address that it went to.

    With `by_server` a mail goes through the account of the server even if the user has one.

    Raises:
        BadRequest: the user has no address, or the message was not taken.
        TooManyRequests: the notificator is limited, and too many messages were sent.
    """
    facts = EventFacts(event=Event(type="test", event_time=call.now))
    rendered = render(facts, reader_of(user, call.context.server))
    notificator = call.context.outgoing.notificators[name]
    try:
        await notificator.admit(user.id)
        message = notificator.message(user, rendered, facts)
        if message is None:
            raise BadRequest(f"{name}: {notificator.unreached}")
        envelope = Envelope(message_id=secrets.token_hex(16), date=call.now, attributes=user.attributes)
        await notificator.send(msgspec.structs.replace(message, system=by_server), envelope)
        # What waits for a receiver that failed is sent now.
        await receivers.resume(call.context.database, notificator.lane_of(user), user.id, now=call.now)
        call.context.system.ref(OUTBOX).offer(OutboxFilled())
    except LimitExceeded as error:
        raise TooManyRequests(f"{name}: {error}", error.seconds) from None
    except OutgoingError as error:
        raise BadRequest(f"{name}: {error}") from None
    return message.to
