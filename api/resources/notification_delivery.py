"""Notificators, test messages and announcements (docs/events.md#notificators).

The notificator `command` carries no text, so it has neither test messages nor announcements.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.accounts.user_rights import may_log_in
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.events.rendering import reader_of, render
from motorpool.actors.http.errors import LimitExceeded
from motorpool.actors.messages.topics import WEB_EVENTS, WebEvent
from motorpool.api.auth.rights import ANNOUNCE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import NO_CONTENT, Operations
from motorpool.api.http.errors import BadRequest, TooManyRequests
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.request_limits import count
from motorpool.api.resources.notification_tests import send_test_message
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts import users
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.deliveries import outbox, receivers
from motorpool.storage.deliveries.receivers import FailingReceiver
from motorpool.storage.records import Event, User

OPERATIONS = Operations("notifications")

ANNOUNCEMENT_LIFE = timedelta(days=1)
"""Announcements that could not be sent within this time are dropped."""
MAX_WAIT_SECONDS = 3600.0
"""After this, messages that were sent no longer count."""
UNTESTABLE = ("command",)


class NotificatorType(msgspec.Struct):
    """A way that notifications go out by."""

    type: str
    """A way that notifications go out by."""


class NotificatorsQuery(msgspec.Struct):
    """For what."""

    announcement: bool = False


class RecipientsQuery(msgspec.Struct, rename="camel"):
    """Users to notify; if none are given, all users the caller may notify."""

    user_id: tuple[int, ...] = ()
    """Users to notify; if none are given, all users the caller may notify."""


class Announcement(msgspec.Struct):
    """Words for many."""

    body: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
    """The words."""
    subject: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    """Their heading."""
    digest: Annotated[str, msgspec.Meta(max_length=10_000)] | None = None
    """Their short form, for sockets and text messages; without it the body."""
    priority: bool = False
    """To be sent before others."""


@OPERATIONS.operation(
    "GET", "/notifications/notificators", query=NotificatorsQuery, answer=list[NotificatorType]
)
async def list_notificators(call: Call) -> Response:
    """The ways that notifications go out by."""
    if call.query(NotificatorsQuery).announcement:
        names = _server_notificators(call)
    else:
        names = (*_user_notificators(call), *UNTESTABLE)
    return as_json([NotificatorType(name) for name in names])


def _server_notificators(call: Call) -> tuple[str, ...]:
    """Return the notificators that carry text to every user who has an address for them."""
    notificators = call.context.outgoing.notificators.values()
    return ("web", *(each.name for each in notificators if each.enabled))


def _user_notificators(call: Call) -> tuple[str, ...]:
    """Return the notificators that carry text to the caller, whose own mail account counts."""
    attributes = call.caller.user.attributes
    notificators = call.context.outgoing.notificators.values()
    return ("web", *(each.name for each in notificators if each.enabled_for(attributes)))


@OPERATIONS.operation("GET", "/notifications/failing", answer=list[FailingReceiver])
async def list_failing_receivers(call: Call) -> Response:
    """The caller's notificators that the last messages could not be delivered by.

    A successful test message resumes one that is paused.
    """
    return as_json(await receivers.failing(call.context.database, call.caller.id))


@OPERATIONS.operation("POST", "/notifications/test", answers={204: NO_CONTENT}, errors=(400,))
async def test_notificators(call: Call) -> Response:
    """Send the caller a test message by every notificator that reaches them, and to their open sockets.

    400 if none but sockets reaches them.
    """
    user = call.caller.user
    notificators = call.context.outgoing.notificators
    names = [
        name for name in _user_notificators(call) if name == "web" or notificators[name].address_of(user)
    ]
    if names == ["web"]:
        raise BadRequest(_why_unreachable(call.context, user))
    await count(call.context.limits.message_tests, str(call.caller.id), "test messages")
    for name in names:
        await _test(call, name, user)
    return no_content()


@OPERATIONS.operation(
    "POST", "/notifications/test/{notificator:text}", answers={204: NO_CONTENT}, errors=(400,)
)
async def test_notificator(call: Call) -> Response:
    """Send the caller a test message by one way; a body is ignored."""
    name = str(call.path["notificator"])
    if name not in _user_notificators(call):
        raise BadRequest(f"notificator: there is no {name} here that can be tested"[:200])
    await count(call.context.limits.message_tests, str(call.caller.id), "test messages")
    await _test(call, name, call.caller.user)
    return no_content()


@OPERATIONS.operation(
    "POST",
    "/notifications/send/{notificator:text}",
    query=RecipientsQuery,
    body=Announcement,
    answers={204: NO_CONTENT},
)
async def send_announcement(call: Call) -> Response:
    """Send an announcement to users; for administrators and managers.

    Mails and text messages are in the outbox when this is answered.
    """
    ANNOUNCE.require(call.caller)
    name = str(call.path["notificator"])
    announcement = await call.body(Announcement)
    if name not in _server_notificators(call):
        raise BadRequest(f"notificator: there is no {name} here that takes announcements"[:200])
    recipients = await _recipients(call, call.query(RecipientsQuery).user_id)
    digest = announcement.digest or announcement.body
    if name == "web":
        _publish(call, "announcement", tuple(user.id for user in recipients), digest, announcement.subject)
        await record_action(
            call, call.context.database, "announcement", attributes=_summary(name, recipients)
        )
        return no_content()
    longest = call.context.outgoing.notificators[name].longest_digest
    if longest is not None and len(digest) > longest:
        raise BadRequest(f"digest: a text message has at most {longest} characters")
    await _queue(call, name, announcement, digest, recipients)
    return no_content()


async def _queue(
    call: Call, name: str, announcement: Announcement, digest: str, recipients: list[User]
) -> None:
    notificator = call.context.outgoing.notificators[name]
    rendered = RenderedMessage(announcement.subject or "", digest, announcement.body, "")
    facts = EventFacts(event=Event(type="announcement", event_time=call.now))
    messages = [
        message
        for user in recipients
        if (message := notificator.message(user, rendered, facts, urgent=announcement.priority))
    ]
    if not messages:
        raise BadRequest(f"none of the users has a {notificator.address_name or notificator.attribute}")
    if not call.caller.administrator:
        try:
            await notificator.admit(call.caller.id, len(messages))
        except LimitExceeded as error:
            raise TooManyRequests(str(error), min(error.seconds, MAX_WAIT_SECONDS)) from None
    async with call.context.database.transaction() as transaction:
        await outbox.enqueue_all(transaction, messages, now=call.now, expires=call.now + ANNOUNCEMENT_LIFE)
        await record_action(call, transaction, "announcement", attributes=_summary(name, messages))
    call.context.system.ref(OUTBOX).offer(OutboxFilled())


async def _recipients(call: Call, user_ids: tuple[int, ...]) -> list[User]:
    """Return the named users, or all that the caller may send to, who can log in and are not guests."""
    database = call.context.database
    query = ListQuery(accessible_to=None if call.caller.administrator else call.caller.id)
    if user_ids:
        found = await users.TABLE.fetch_many(database, dict.fromkeys(user_ids))
        known = {user.id for user in found}
        permitted = known
        if not call.caller.administrator:
            permitted = known & {
                call.caller.id,
                *await users.managed_by(database, call.caller.id),
            }
        if permitted != set(user_ids):
            raise BadRequest(
                "userId: there is no such user among those you may tell", is_refusal=permitted != known
            )
    else:
        found = await users.TABLE.list(database, query)
    chosen = [user for user in found if may_log_in(user, call.now) and not user.temporary]
    if not chosen:
        raise BadRequest("there is no user to notify")
    return chosen


def _summary(name: str, recipients: Sequence[object]) -> dict[str, object]:
    return {"notificator": name, "users": len(recipients)}


def _why_unreachable(context: ServerContext, user: User) -> str:
    mail, sms = context.outgoing.mail.enabled_for(user.attributes), context.outgoing.sms.enabled
    if not (mail or sms):
        return "neither a mail server nor an SMS gateway is configured"
    missing = (["mail address"] if mail else []) + (["telephone number"] if sms else [])
    return f"the user has no {' and no '.join(missing)}"


async def _test(call: Call, name: str, user: User) -> None:
    if name != "web":
        await send_test_message(call, name, user)
        return
    facts = EventFacts(event=Event(type="test", event_time=call.now))
    rendered = render(facts, reader_of(user, call.context.server))
    _publish(call, "test", (user.id,), rendered.digest, None)


def _publish(call: Call, kind: str, user_ids: tuple[int, ...], text: str, subject: str | None) -> None:
    attributes = {"message": text} if subject is None else {"message": text, "subject": subject}
    event = Event(type=kind, event_time=call.now, attributes=attributes)
    call.context.system.topic(WEB_EVENTS).publish(WebEvent(frozenset(user_ids), event))
