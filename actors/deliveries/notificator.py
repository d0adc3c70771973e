"""A notificator: a way of sending messages to users (docs/events.md#notificators).

Each is a class in `actors/deliveries/notificators/`, listed there in `NOTIFICATORS`; a server has one object
of each, in `OutgoingServices.notificators`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec
import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.webhook import Webhooks
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse
from motorpool.storage.deliveries.outbox import Attachment, OutgoingMessage
from motorpool.storage.deliveries.queue import QueuedMessage
from motorpool.storage.records import User

REQUEST_SECONDS = 10.0
"""Timeout of one request to a service."""
MAX_ANSWER_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Network:
    """What notificators use to send."""

    http: OutgoingHttp
    webhooks: Webhooks
    monotonic: Callable[[], float] = trio.current_time
    """The clock of rate limits."""
    shared: SharedAttempts | None = None
    """Counts text messages of all servers of a cluster; None without a cluster."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent with a message."""

    message_id: str = ""
    """Identifies the message to the recipient; the same for all attempts."""
    date: datetime = datetime.min.replace(tzinfo=UTC)
    """When the message was made."""
    attributes: Mapping[str, Any] = {}
    """The attributes of its user."""
    attachments: Sequence[Attachment] = ()


NO_ENVELOPE = Envelope()


class Notificator(ABC):
    """Composes messages to users, and sends them."""

    name: ClassVar[str]
    """Its name in notifications, and its lane in the queue."""
    settings: ClassVar[type[Any] | None] = None
    """The dataclass of its section of the settings, which has its name; None without a section."""
    attribute: ClassVar[str] = ""
    """The attribute of a user that holds the address."""
    address_name: ClassVar[str] = ""
    """What errors call the address if it is not an attribute."""
    sends_text: ClassVar[bool] = False
    """Whether messages hold the whole text instead of the digest."""
    longest_digest: ClassVar[int | None] = None
    """Maximum characters of a message; longer announcements are refused, not cut. None: no limit."""

    def __init__(self, settings: Any, network: Network) -> None:  # noqa: ANN401 - of its own class
        """`settings` is its section of the settings, or None."""
        self._http = network.http
        self.configure(settings)

    def configure(self, settings: Any, *, trusted: bool = True) -> None:  # noqa: ANN401 - as above
        """Use other settings from now on; `trusted`: the operator vouches for the addresses in them."""
        self._settings = settings
        self._trusted = trusted

    @property
    @abstractmethod
    def enabled(self) -> bool:
        """Whether it is configured for all users."""

    def enabled_for(self, attributes: Mapping[str, object]) -> bool:
        """Whether it can send to a user with these attributes."""
        del attributes
        return self.enabled

    def address_of(self, user: User) -> str:
        """Return the address of a user; empty without one."""
        value = user.attributes.get(self.attribute)
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""

    @property
    def unreached(self) -> str:
        """The error for a user without an address."""
        if self.attribute:
            return f"the user has no attribute {self.attribute}"
        return f"there is no such {self.address_name}"

    def lane_of(self, user: User) -> str:
        """Return the lane of messages to a user."""
        del user
        return self.name

    def lanes(self) -> tuple[Lane, ...]:
        """Return its lanes."""
        return (ServiceLane(self.name, self),)

    def compose(
        self, user: User, to: str, rendered: RenderedMessage, facts: EventFacts, *, urgent: bool
    ) -> OutgoingMessage:
        """Return the message about an event to a user at the address `to`."""
        return OutgoingMessage(
            channel=self.name,
            to=to,
            subject=rendered.subject,
            text=(rendered.text if self.sends_text else rendered.digest)[: self.longest_digest],
            link=facts.link,
            user_id=user.id,
            urgent=urgent,
        )

    def message(
        self, user: User, rendered: RenderedMessage, facts: EventFacts, *, urgent: bool = False
    ) -> OutgoingMessage | None:
        """Return the message about an event to a user; None if they have no address."""
        to = self.address_of(user)
        return self.compose(user, to, rendered, facts, urgent=urgent) if to else None

    async def admit(self, user_id: int, messages: int = 1) -> None:
        """Count messages that a user causes, if they are limited. Raises LimitExceeded."""
        del user_id, messages

    @abstractmethod
    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Send a message once.

        Raises:
            Unreachable: not configured, or the service takes no messages now.
            DeliveryRefused: the service refuses this message.
        """


class ServiceLane(Lane):
    """Messages of one notificator."""

    def __init__(self, name: str, notificator: Notificator, *, with_account: bool = False) -> None:
        super().__init__(name)
        self._notificator = notificator
        self.with_account = with_account

    async def send(
        self,
        session: None,
        message: QueuedMessage,
        attributes: Mapping[str, Any],
        attachments: Sequence[Attachment],
        now: datetime,
    ) -> HttpResponse | None:
        """Send a message by the notificator."""
        del session, now
        envelope = Envelope(
            message_id=message.message_id,
            date=message.created,
            attributes=attributes,
            attachments=attachments,
        )
        await self._notificator.send(message.message, envelope)
        return None


async def post(
    http: OutgoingHttp,
    service: str,
    url: str,
    *,
    trusted: bool,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    form: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Send JSON or a form to a service, which is `trusted` if the operator named it; raises Unreachable."""
    try:
        return await http.request(
            "POST",
            url,
            trusted=trusted,
            headers={**({} if content is None else {"Content-Type": "application/json"}), **(headers or {})},
            content=content,
            form=form,
            seconds=REQUEST_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
        )
    except OutgoingError as error:
        # Every other message would fail in the same way.
        raise Unreachable(f"{service} was not reached: {error}") from None


def json_object(answer: HttpResponse) -> Mapping[str, object]:
    """Return the JSON object of an answer; empty for anything else."""
    try:
        found = answer.json()
    except DeliveryRefused:
        return {}
    return found if isinstance(found, dict) else {}
