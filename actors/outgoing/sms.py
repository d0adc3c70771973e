"""Text messages, by a gateway that takes an HTTP request for each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

import msgspec

from motorpool.actors.messages.counters import SMS_SENT
from motorpool.actors.outgoing.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.outgoing.http import OutgoingHttp
from motorpool.storage.outbox import OutgoingMessage

__all__ = ["Sms", "SmsGateway", "telephone_number"]

LONGEST_TEXT = 1000
MOST_BYTES = 64 * 1024
_PLACES = re.compile(r"\{(phone|message|id)\}")
_NUMBER = re.compile(r"\+?[0-9]{2,20}")
_FILLING = str.maketrans("", "", " -./()\u00a0")


@dataclass(frozen=True, kw_only=True)
class SmsGateway:
    """The request that sends a text message."""

    url: str = field(repr=False)
    """May hold the places of the template too, and keys."""
    method: str = "POST"
    headers: tuple[str, ...] = field(default=(), repr=False)
    """Lines such as `X-Api-Key: 123`."""
    authorization: str = field(default="", repr=False)
    """Value of the Authorization header."""
    template: str = '{"to": "{phone}", "text": "{message}"}'
    """The body: JSON where it begins as an object or array, else a form.

    `{id}` in it is the same at each attempt.
    """
    seconds: float = 10.0


def telephone_number(text: str) -> str:
    """Return a number without the signs people put between digits; DeliveryRefused where it is none."""
    number = text.strip().translate(_FILLING)
    if _NUMBER.fullmatch(number) is None:
        raise DeliveryRefused("there is no such telephone number", permanent=True)
    return number


class Sms:
    """Sends text messages; 2xx means that the gateway has one."""

    def __init__(self, http: OutgoingHttp, gateway: SmsGateway | None = None) -> None:
        self._http = http
        self._gateway = gateway

    @property
    def enabled(self) -> bool:
        """Whether there is a gateway."""
        return self._gateway is not None

    async def send(self, message: OutgoingMessage, *, message_id: str) -> None:
        """Hand a text message to the gateway.

        Raises:
            Unreachable: it takes none now, or there is none.
            DeliveryRefused: it does not take this one.
        """
        gateway = self._gateway
        if gateway is None:
            raise Unreachable("no SMS gateway is configured")
        if len(message.text) > LONGEST_TEXT:
            raise DeliveryRefused(f"a text message has at most {LONGEST_TEXT} characters", permanent=True)
        values = {"phone": telephone_number(message.to), "message": message.text, "id": message_id}
        json = gateway.template.lstrip()[:1] in {"{", "["} and not _PLACES.match(gateway.template.lstrip())
        body = ""
        if gateway.method != "GET":
            body = _filled(gateway.template, values, _in_json if json else _in_form)
        headers = dict(_header(line) for line in gateway.headers)
        if body:
            kind = "application/json" if json else "application/x-www-form-urlencoded"
            headers = {"Content-Type": kind, **headers}
        if gateway.authorization:
            headers["Authorization"] = gateway.authorization
        try:
            answer = await self._http.request(
                gateway.method,
                _filled(gateway.url, values, _in_form),
                trusted=True,
                headers=headers,
                content=body.encode() if body else None,
                seconds=gateway.seconds,
                most_bytes=MOST_BYTES,
            )
        except OutgoingError as error:
            # Whatever is wrong there is wrong for every message.
            raise Unreachable(f"the SMS gateway was not reached: {error}") from None
        if not answer.ok:
            # Not its text, which may repeat the request with its keys.
            complaint = f"the SMS gateway answers {answer.status}"
            if answer.status in {400, 404, 413, 422}:
                raise DeliveryRefused(complaint)
            raise Unreachable(complaint)
        SMS_SENT.value += 1

    @staticmethod
    def can_reach(phone: str | None) -> bool:
        """Whether a text message can be sent to a number at all."""
        try:
            telephone_number(phone or "")
        except DeliveryRefused:
            return False
        return True


def _filled(template: str, values: Mapping[str, str], escape: Callable[[str], str]) -> str:
    return _PLACES.sub(lambda place: escape(values[place[1]]), template)


def _in_json(text: str) -> str:
    return msgspec.json.encode(text).decode()[1:-1]


def _in_form(text: str) -> str:
    return quote(text, safe="")


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()
