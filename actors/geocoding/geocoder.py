"""Looks up the addresses of places at a geocoder, with a cache."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar
from urllib.parse import quote

import trio

from motorpool.actors.geocoding.addresses import format_address
from motorpool.actors.geocoding.geocoders import PROVIDERS, Json
from motorpool.actors.geocoding.searches import SEARCHES, FoundAddress
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse
from motorpool.actors.messages.counters import GEOCODER_REQUESTS
from motorpool.actors.words.printable import printable_line

MAX_RESPONSE_BYTES = 256 * 1024
DECIMALS = 4
"""Decimals of a degree that are looked up: about 11 m."""
MAX_PLACES = 1000
"""Most places that `addresses` looks up; further ones are answered from the cache only."""
MAX_CONCURRENT = 4
"""Most requests of one call of `addresses` at a time."""
MAX_SEARCHES = 1000
"""Searches whose results are remembered."""
MAX_FOUND = 10
"""Most results of a search that are read."""
MAX_CHARACTERS = 500
"""Of an address, whatever the geocoder answers: many are kept in memory and stored with positions."""
Place = tuple[float, float]
"""Latitude and longitude, in degrees."""
Asked = TypeVar("Asked", bound=Hashable)
Found = TypeVar("Found")


class _Answers(Generic[Asked, Found]):
    """Answers that are remembered; the one used longest ago is forgotten first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.known: OrderedDict[Asked, Found] = OrderedDict()
        self._pending: dict[Asked, trio.Event] = {}

    async def get(self, asked: Asked, ask: Callable[[], Awaitable[Found]]) -> Found:
        """Return an answer, asked for once however many callers wait for it."""
        while asked not in self.known:
            if asked in self._pending:
                # The other caller may fail or be cancelled; then this one asks.
                await self._pending[asked].wait()
            else:
                await self._ask(asked, ask)
        self.known.move_to_end(asked)
        return self.known[asked]

    async def _ask(self, asked: Asked, ask: Callable[[], Awaitable[Found]]) -> None:
        done = self._pending[asked] = trio.Event()
        try:
            self.known[asked] = await ask()
        finally:
            del self._pending[asked]
            done.set()
        while len(self.known) > self._size:
            self.known.popitem(last=False)


class Geocoder:
    """Looks up places and searches for them, within the rate limit."""

    def __init__(
        self,
        http: OutgoingHttp,
        service: GeocoderSettings,
        monotonic: Callable[[], float],
        *,
        trusted: bool = True,
    ) -> None:
        """`trusted` says that the operator vouches for the address of the service."""
        self._http = http
        self._trusted = trusted
        self.service = service
        assert service.type is not None
        self._provider = PROVIDERS[service.type]
        self._monotonic = monotonic
        self._addresses = _Answers[Place, str](service.cache_size)
        self._next_request_at = 0.0
        self._search = SEARCHES[service.type]
        self._searches = _Answers[str, tuple[FoundAddress, ...]](MAX_SEARCHES)

    async def addresses(self, places: Sequence[Place], *, seconds: float | None = None) -> list[str | None]:
        """Return the addresses of places, None where none is known and none was found in time.

        Never raises an error of the geocoder, looks up at most MAX_PLACES, and ends within `seconds`, by
        default the `request_seconds` of the service: a report is complete without its addresses.
        """
        seconds = self.service.request_seconds if seconds is None else seconds
        looks_up = self.service.on_request and seconds > 0
        wanted = dict.fromkeys(map(_rounded, places)) if looks_up else {}
        missing = iter([place for place in wanted if place not in self._addresses.known][:MAX_PLACES])

        async def look_up() -> None:
            for place in missing:
                try:
                    await self.address(*place)
                except OutgoingError:
                    # The others would fail as well, or wait in vain for the rate limit.
                    nursery.cancel_scope.cancel()

        with trio.move_on_after(max(0.0, seconds)):
            async with trio.open_nursery() as nursery:
                for _ in range(MAX_CONCURRENT):
                    nursery.start_soon(look_up)
        return [self._addresses.known.get(_rounded(place)) or None for place in places]

    async def address(self, latitude: float, longitude: float, *, anew: bool = False) -> str:
        """Return the address of a place in one line; empty where there is none.

        With `anew` the geocoder is asked even if the address is known.

        Raises:
            Unreachable: the geocoder gives no answer now.
            DeliveryRefused: its response cannot be read.
        """
        place = _rounded((latitude, longitude))
        if anew:
            self._addresses.known.pop(place, None)
        return await self._answer(self._addresses, place, partial(self._address, place))

    async def search(self, keyword: str) -> tuple[FoundAddress, ...]:
        """Return the places that the geocoder finds by a name or an address, MAX_FOUND at most.

        None are found where a geocoder of one's own is not known to search.

        Raises:
            Unreachable: the geocoder gives no answer now.
            DeliveryRefused: its response cannot be read.
        """
        url = self._search.url_at(self.service.url)
        if url is None:
            return ()
        asked = " ".join(keyword.casefold().split())
        return await self._answer(self._searches, asked, partial(self._places, url, keyword))

    async def _answer(
        self, answers: _Answers[Asked, Found], asked: Asked, ask: Callable[[], Awaitable[Found]]
    ) -> Found:
        try:
            with trio.fail_after(self.service.seconds):
                return await answers.get(asked, ask)
        except trio.TooSlowError:
            raise Unreachable(f"the geocoder gave no answer within {self.service.seconds:g} s") from None

    async def _wait_for_rate_limit(self) -> None:
        if self.service.per_second <= 0:
            return
        now = self._monotonic()
        turn = max(now, self._next_request_at)
        if turn - now >= self.service.seconds:
            raise Unreachable("the geocoder is asked more often than it may be")
        self._next_request_at = turn + 1 / self.service.per_second
        await trio.sleep(turn - now)

    async def _places(self, url: str, keyword: str) -> tuple[FoundAddress, ...]:
        search = self._search
        parameters = {search.keyword: keyword} if search.keyword else {}
        url = url.replace("{keyword}", quote(keyword, safe=""))
        return self._read_found(await self._ask(url, {**parameters, **search.parameters}))

    async def _address(self, place: Place) -> str:
        provider = self._provider
        latitude, longitude = (f"{degrees:.{DECIMALS}f}" for degrees in place)
        parameters = {
            name: _fill_in(value, latitude, longitude) for name, value in provider.parameters.items()
        }
        answer = await self._ask(_fill_in(self.service.url or provider.url, latitude, longitude), parameters)
        if answer.status in provider.no_address:
            return ""
        content = self._content(answer)
        try:
            found = provider.read(content)
            return "" if found is None else _one_line(format_address(found, self.service.format))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            raise DeliveryRefused("the geocoder's answer cannot be read") from None

    async def _ask(self, url: str, parameters: Mapping[str, str]) -> HttpResponse:
        """Send a request with key and language when its turn comes."""
        await self._wait_for_rate_limit()
        service, provider = self.service, self._provider
        sent = dict(parameters)
        if provider.key and service.key:
            sent[provider.key] = service.key
        if provider.language and service.language:
            sent[provider.language] = service.language
        GEOCODER_REQUESTS.value += 1
        try:
            return await self._http.request(
                "GET",
                url,
                trusted=self._trusted,
                params=sent,
                headers={"Accept": "application/json"},
                seconds=service.seconds,
                max_bytes=MAX_RESPONSE_BYTES,
            )
        except OutgoingError as error:
            raise Unreachable(f"the geocoder was not reached: {error}") from None

    def _content(self, answer: HttpResponse) -> Json:
        if not answer.ok:
            # The content is left out: it may repeat the request with its key.
            raise Unreachable(f"the geocoder answers {answer.status}")
        content = answer.json()
        if isinstance(content, dict) and content.get("status") in self._provider.failures:
            raise Unreachable(f"the geocoder answers {content['status']}")
        return content

    def _read_found(self, answer: HttpResponse) -> tuple[FoundAddress, ...]:
        if answer.status in self._provider.no_address:
            return ()
        content, form, found = self._content(answer), self._search.form, []
        try:
            for row in form.rows(content)[:MAX_FOUND]:
                address = self._provider.read(form.response(row))
                name = address and _one_line(address.full or format_address(address, self.service.format))
                place = _place(*form.point(row))
                if name and place:
                    found.append(FoundAddress(name, *place))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            raise DeliveryRefused("the geocoder's answer cannot be read") from None
        return tuple(found)


def _one_line(address: str) -> str:
    return printable_line(address[: 2 * MAX_CHARACTERS])[:MAX_CHARACTERS]


def _place(latitude: Json, longitude: Json) -> Place | None:
    """Return a place on the earth; None for another. Raises TypeError, ValueError."""
    try:
        place = float(latitude), float(longitude)
    except OverflowError:
        return None
    return place if abs(place[0]) <= 90 and abs(place[1]) <= 180 else None


def _rounded(place: Place) -> Place:
    # Adding 0.0 turns -0.0 into 0.0.
    return (round(place[0], DECIMALS) + 0.0, round(place[1], DECIMALS) + 0.0)


def _fill_in(text: str, latitude: str, longitude: str) -> str:
    return text.replace("{latitude}", latitude).replace("{longitude}", longitude)
