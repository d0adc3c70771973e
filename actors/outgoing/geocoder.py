"""The address of a place, asked from a geocoder and remembered."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import trio

from motorpool.actors.messages.counters import GEOCODER_REQUESTS
from motorpool.actors.outgoing.addresses import DEFAULT_FORMAT, Address, write_address
from motorpool.actors.outgoing.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.outgoing.geocoders import PROVIDERS
from motorpool.actors.outgoing.http import HttpAnswer, OutgoingHttp

__all__ = ["Geocoder", "GeocoderService"]

MOST_BYTES = 256 * 1024
PLACES = 4
"""Decimals of a degree that count: some eleven metres."""
Place = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class GeocoderService:
    """Whom to ask, and how often."""

    type: str = "nominatim"
    """One of PROVIDERS."""
    url: str = field(default="", repr=False)
    """Of a service of one's own; else the provider's."""
    key: str = field(default="", repr=False)
    language: str = ""
    """Of the answers: "de"."""
    format: str = DEFAULT_FORMAT
    cache_size: int = 10_000
    """Places remembered."""
    per_second: float = 1.0
    """Questions at most, as the public Nominatim demands; 0 is no limit."""
    seconds: float = 10.0
    """For an answer, waiting for one's turn included."""


class Geocoder:
    """Asks once for a place, however many want to know, and not more often than agreed."""

    def __init__(self, http: OutgoingHttp, service: GeocoderService, monotonic: Callable[[], float]) -> None:
        self._http = http
        self._service = service
        self._provider = PROVIDERS[service.type]
        self._monotonic = monotonic
        self._known: OrderedDict[Place, str] = OrderedDict()
        self._asked: dict[Place, trio.Event] = {}
        self._next_turn = 0.0

    async def address(self, latitude: float, longitude: float) -> str:
        """Return the address of a place in one line; empty where there is none.

        Raises:
            Unreachable: the geocoder gives no answer now.
            DeliveryRefused: its answer cannot be read.
        """
        # + 0.0 makes one zero of the two.
        place = (round(latitude, PLACES) + 0.0, round(longitude, PLACES) + 0.0)
        try:
            with trio.fail_after(self._service.seconds):
                while place not in self._known:
                    if place in self._asked:
                        # Whoever asks already may fail or leave; then it is our turn.
                        await self._asked[place].wait()
                    else:
                        await self._look_up(place)
        except trio.TooSlowError:
            raise Unreachable(f"the geocoder gave no answer within {self._service.seconds:g} s") from None
        self._known.move_to_end(place)
        return self._known[place]

    async def _look_up(self, place: Place) -> None:
        done = self._asked[place] = trio.Event()
        try:
            await self._wait_for_turn()
            found = await self._ask(place)
        finally:
            del self._asked[place]
            done.set()
        self._known[place] = "" if found is None else write_address(found, self._service.format)
        while len(self._known) > self._service.cache_size:
            self._known.popitem(last=False)

    async def _wait_for_turn(self) -> None:
        if self._service.per_second <= 0:
            return
        now = self._monotonic()
        turn = max(now, self._next_turn)
        if turn - now >= self._service.seconds:
            raise Unreachable("the geocoder is asked more often than it may be")
        self._next_turn = turn + 1 / self._service.per_second
        await trio.sleep(turn - now)

    async def _ask(self, place: Place) -> Address | None:
        service, provider = self._service, self._provider
        latitude, longitude = (f"{degrees:.{PLACES}f}" for degrees in place)
        parameters = dict(provider.parameters)
        if provider.key and service.key:
            parameters[provider.key] = service.key
        if provider.language and service.language:
            parameters[provider.language] = service.language
        GEOCODER_REQUESTS.value += 1
        try:
            answer = await self._http.request(
                "GET",
                _placed(service.url or provider.url, latitude, longitude),
                trusted=True,
                params={name: _placed(value, latitude, longitude) for name, value in parameters.items()},
                headers={"Accept": "application/json"},
                seconds=service.seconds,
                most_bytes=MOST_BYTES,
            )
        except OutgoingError as error:
            raise Unreachable(f"the geocoder was not reached: {error}") from None
        return self._read(answer)

    def _read(self, answer: HttpAnswer) -> Address | None:
        if answer.status in self._provider.nothing:
            return None
        if not answer.ok:
            # Not its text, which may repeat the question with the key.
            raise Unreachable(f"the geocoder answers {answer.status}")
        content = answer.json()
        try:
            if isinstance(content, dict) and content.get("status") in self._provider.refusals:
                raise Unreachable(f"the geocoder answers {content['status']}")
            return self._provider.read(content)
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            raise DeliveryRefused("the geocoder's answer cannot be read") from None


def _placed(text: str, latitude: str, longitude: str) -> str:
    return text.replace("{latitude}", latitude).replace("{longitude}", longitude)
