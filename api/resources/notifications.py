"""Notifications: who is notified of which events, and how (docs/events.md#notifications)."""

import msgspec
from quart import Response

from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.events.own_words import OwnWords, problem_of
from motorpool.actors.messages.changes import NotificationChanged
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.rules.severity import SEVERITIES, read_severity
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import commands
from motorpool.storage.records import Notification

OPERATIONS = Operations("notifications")

SWITCHES = ("web", "mail", "sms")
ACCEPTED = (
    *SWITCHES,
    "command",
    "firebase",
    "traccar",
    "whatsapp",
    *(each.name for each in NOTIFICATORS if each.name not in SWITCHES),
)
"""All notificators that a notification may name, whether or not this server supports them."""


class NotificationType(msgspec.Struct):
    """A type of event that users can be notified of."""

    type: str
    """A type of event."""


@OPERATIONS.operation("GET", "/notifications/types", answer=list[NotificationType])
async def list_notification_types(call: Call) -> Response:
    """The types of events that notifications can be made for."""
    del call
    return as_json([NotificationType(name) for name in EVENT_TYPES])


class SentNotification(Notification, frozen=True):
    """A notification as sent by a client, with list and switches that may disagree."""

    listed: bool = False
    """Whether the body has `notificators`."""


class NotificationPolicy(LinkedPolicy[Notification]):
    """Keeps the list `notificators` and the switches `web`, `mail` and `sms` consistent.

    The specification knows the switches only, the Traccar web client writes the list only and sends the
    switches back as it got them. Both work, because what a client changed counts:

    - a body without `notificators` means the switches: the list is made of them;
    - a body with it means the list, but a switch that differs from what is stored (all off for a new
      notification) was turned on or off on purpose, and the list follows it.
    """

    async def read(self, call: Call, shape: type[Notification]) -> Notification:
        """Record whether the list was sent at all; null counts as absent."""
        sent = await super().read(call, shape)
        return extended(SentNotification, sent, listed="notificators" in await call.body_fields())

    async def validate(self, sent: Notification) -> Notification:
        """Refuse unknown types, notificators and placeholders."""
        if sent.type not in EVENT_TYPES:
            raise BadRequest("type: not one of GET /notifications/types")
        severity = sent.attributes.get("severity")
        if severity is not None and read_severity(severity) is None:
            raise BadRequest(f"attributes.severity: is none of {', '.join(SEVERITIES)}")
        for key in OwnWords._fields:
            words = sent.attributes.get(key)
            if words is not None and (problem := problem_of(key, words)):
                raise BadRequest(f"attributes.{key}: {problem}")
        for name in _names(sent.notificators):
            if name not in ACCEPTED:
                raise BadRequest(f"notificators: {name[:40]} is not one of {', '.join(ACCEPTED)}")
        return sent

    async def prepare(
        self, call: Call, transaction: Queries, new: Notification, old: Notification | None
    ) -> Notification:
        """Check the references and reconcile list and switches."""
        new = await super().prepare(call, transaction, new, old)
        listed = isinstance(new, SentNotification) and new.listed
        names = _names(new.notificators) if listed else ()
        stored = _names(old.notificators) if old is not None else ()
        for switch in SWITCHES:
            on = bool(getattr(new, switch))
            turned = on != (switch in stored) or not listed
            if turned and on != (switch in names):
                names = (*names, switch) if on else tuple(name for name in names if name != switch)
        if "command" in names and not new.command_id:
            raise BadRequest("commandId: needed for the notificator command")
        switches = {switch: switch in names for switch in SWITCHES}
        return extended(Notification, new, notificators=",".join(names), **switches)


def _names(notificators: str) -> tuple[str, ...]:
    """Split a comma-separated list; duplicates are dropped."""
    return tuple(dict.fromkeys(name for part in notificators.split(",") if (name := part.strip())))


NOTIFICATIONS = Resource(
    name="notification",
    path="notifications",
    change=NotificationChanged,
    policy=NotificationPolicy(
        plain_tables.NOTIFICATIONS,
        links.USER_NOTIFICATION,
        filters=(links.DEVICE_NOTIFICATION, links.GROUP_NOTIFICATION),
        references={"calendar_id": plain_tables.CALENDARS, "command_id": commands.TABLE},
        required=("type",),
    ),
)
add_resource_operations(NOTIFICATIONS, OPERATIONS)
