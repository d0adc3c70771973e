"""Text messages through a gateway, by one HTTP request each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta

from motorpool.actors.cluster.shared_attempts import SharedRates
from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Network, Notificator
from motorpool.actors.http.errors import DeliveryRefused, LimitExceeded, OutgoingError, Unreachable
from motorpool.actors.messages.counters import SMS_SENT
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

MAX_TEXT_LENGTH = 1000
MAX_RESPONSE_BYTES = 64 * 1024
HOUR_SECONDS = 3600.0
OF_USER = "text message of a user"
OF_ALL = "text message"
_PLACES = re.compile(r"\{(phone|message|id)\}")
_NUMBER = re.compile(r"\+?[0-9]{2,20}")
_FILLING = str.maketrans("", "", " -./()\u00a0")


@dataclass(frozen=True, kw_only=True)
class SmsSettings:
    """The gateway that takes text messages, one HTTP request for each."""

    url: Annotated[str | None, Meta(extra={"form": "service", "secret": True, "destination": True})] = field(
        default=None, repr=False
    )
    """Address of the request; with it text messages are sent. It may hold `{phone}`, `{message}`, `{id}`."""
    method: Annotated[str, Meta(extra={"choices": ("POST", "PUT", "GET")})] = "POST"
    """Method of the request."""
    headers: Annotated[tuple[str, ...], Meta(extra={"secret": True})] = field(default=(), repr=False)
    """Further header lines: `X-Api-Key: 123`."""
    authorization: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """Value of the `Authorization` header."""
    template: str = '{"to": "{phone}", "text": "{message}"}'
    """Body of the request, but for `GET`: JSON, or a form such as `to={phone}&text={message}`."""
    seconds: Annotated[float, Meta(ge=1, le=60, extra={"unit": "s"})] = 10.0
    """The gateway answers within this."""
    per_user: Annotated[int, Meta(ge=1, le=100_000, extra={"unit": "messages"})] = 60
    """Text messages within an hour that a user may send as commands, tests and announcements; administrators
    may announce to any number of users."""
    per_hour: Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "messages"})] = 1000
    """Such text messages of all users together within an hour."""


def telephone_number(text: str) -> str:
    """Return a telephone number without separators. Raises DeliveryRefused where it is not valid."""
    number = text.strip().translate(_FILLING)
    if _NUMBER.fullmatch(number) is None:
        raise DeliveryRefused("there is no such telephone number", permanent=True)
    return number


class Sms(Notificator):
    """A gateway that takes text messages; a status of 2xx means that it has accepted one."""

    name = "sms"
    settings = SmsSettings
    address_name = "telephone number"
    longest_digest = MAX_TEXT_LENGTH

    def __init__(self, settings: SmsSettings, network: Network) -> None:
        self._network = network
        self._limits: dict[str, int] = {}
        super().__init__(settings, network)

    def configure(self, settings: SmsSettings, *, trusted: bool = True) -> None:
        """Use other settings from now on; with other limits this server counts anew."""
        super().configure(settings, trusted=trusted)
        limits = {OF_USER: settings.per_user, OF_ALL: settings.per_hour}
        if limits != self._limits:
            self._limits = limits
            self._rates = SharedRates(limits, HOUR_SECONDS, self._network.monotonic, self._network.shared)

    @property
    def enabled(self) -> bool:
        """Whether a gateway is configured."""
        return self._settings.url is not None

    def address_of(self, user: User) -> str:
        """Return the user's telephone number, if it is valid."""
        return user.phone or "" if self.can_reach(user.phone) else ""

    async def admit(self, user_id: int, messages: int = 1) -> None:
        """Count messages that a user is about to send by a command, a test or an announcement.

        Raises:
            LimitExceeded: too many were sent within the last hour; these are not counted.
        """
        self.admit_here(user_id, messages)
        await self.admit_together(user_id, messages)

    def admit_here(self, user_id: int, messages: int = 1) -> None:
        """As `admit`, by what this server has counted; `admit_together` is to follow."""
        self._check(self._rates.hit_here(_keys(user_id), messages))

    async def admit_together(self, user_id: int, messages: int = 1) -> None:
        """Count for all servers of a cluster what `admit_here` has admitted; as `admit`."""
        self._check(await self._rates.hit_together(_keys(user_id), messages))

    def _check(self, exceeded: tuple[str, float] | None) -> None:
        if exceeded is None:
            return
        kind, seconds = exceeded
        if kind == OF_USER:
            raise LimitExceeded(f"a user may send {self._settings.per_user} text messages an hour", seconds)
        raise LimitExceeded(f"all users may send {self._settings.per_hour} text messages an hour", seconds)

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Hand a text message to the gateway."""
        gateway = self._settings
        if gateway.url is None:
            raise Unreachable("no SMS gateway is configured")
        if len(message.text) > MAX_TEXT_LENGTH:
            raise DeliveryRefused(f"a text message has at most {MAX_TEXT_LENGTH} characters", permanent=True)
        values = {"phone": telephone_number(message.to), "message": message.text, "id": envelope.message_id}
        json = gateway.template.lstrip()[:1] in {"{", "["} and not _PLACES.match(gateway.template.lstrip())
        body = ""
        if gateway.method != "GET":
            body = _filled(gateway.template, values, _in_json if json else _in_form)
        lines = (line.partition(":") for line in gateway.headers)
        headers = {name.strip(): value.strip() for name, _, value in lines}
        if body:
            kind = "application/json" if json else "application/x-www-form-urlencoded"
            headers = {"Content-Type": kind, **headers}
        if gateway.authorization:
            headers["Authorization"] = gateway.authorization
        try:
            answer = await self._http.request(
                gateway.method,
                _filled(gateway.url, values, _in_form),
                trusted=self._trusted,
                headers=headers,
                content=body.encode() if body else None,
                seconds=gateway.seconds,
                max_bytes=MAX_RESPONSE_BYTES,
            )
        except OutgoingError as error:
            # Every other message would fail in the same way.
            raise Unreachable(f"the SMS gateway was not reached: {error}") from None
        if not answer.ok:
            # The content is left out: it may repeat the request with its secrets.
            complaint = f"the SMS gateway answers {answer.status}"
            if answer.status in {400, 404, 413, 422}:
                raise DeliveryRefused(complaint)
            raise Unreachable(complaint)
        SMS_SENT.value += 1

    @staticmethod
    def can_reach(phone: str | None) -> bool:
        """Return whether a number is a valid telephone number."""
        try:
            telephone_number(phone or "")
        except DeliveryRefused:
            return False
        return True


def _keys(user_id: int) -> dict[str, str]:
    # In this order the row that all users have is locked last, and for the shortest time.
    return {OF_USER: str(user_id), OF_ALL: ""}


def _filled(template: str, values: Mapping[str, str], escape: Callable[[str], str]) -> str:
    return _PLACES.sub(lambda place: escape(values[place[1]]), template)


def _in_json(text: str) -> str:
    return msgspec.json.encode(text).decode()[1:-1]


def _in_form(text: str) -> str:
    return quote(text, safe="")
