"""Looks up the addresses of places at a geocoder, with a cache."""

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

import trio

from motorpool.actors.geocoding.addresses import Address, format_address
from motorpool.actors.geocoding.geocoders import PROVIDERS, Json
from motorpool.actors.geocoding.searches import SEARCHES, FoundAddress
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse
from motorpool.actors.messages.counters import GEOCODER_REQUESTS

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
Place = tuple[float, float]
"""Latitude and longitude, in degrees."""


class Geocoder:
    """Looks up each place once, however many callers wait for it, within the rate limit."""

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
        self._cache: OrderedDict[Place, str] = OrderedDict()
        self._pending: dict[Place, trio.Event] = {}
        self._next_request_at = 0.0
        self._search = SEARCHES[service.type]
        self._searches: OrderedDict[str, tuple[FoundAddress, ...]] = OrderedDict()

    async def addresses(self, places: Sequence[Place], *, seconds: float | None = None) -> list[str | None]:
        """Return the addresses of places, None where none is known and none was found in time.

        Never raises an error of the geocoder, looks up at most MAX_PLACES, and ends within `seconds`, by
        default the `request_seconds` of the service: a report is complete without its addresses.
        """
        seconds = self.service.request_seconds if seconds is None else seconds
        looks_up = self.service.on_request and seconds > 0
        wanted = dict.fromkeys(map(_rounded, places)) if looks_up else {}
        missing = iter([place for place in wanted if place not in self._cache][:MAX_PLACES])

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
        return [self._cache.get(_rounded(place)) or None for place in places]

    async def address(self, latitude: float, longitude: float) -> str:
        """Return the address of a place in one line; empty where there is none.

        Raises:
            Unreachable: the geocoder gives no answer now.
            DeliveryRefused: its response cannot be read.
        """
        place = _rounded((latitude, longitude))
        try:
            with trio.fail_after(self.service.seconds):
                while place not in self._cache:
                    if place in self._pending:
                        # The other caller may fail or be cancelled; then this one looks it up.
                        await self._pending[place].wait()
                    else:
                        await self._look_up(place)
        except trio.TooSlowError:
            raise Unreachable(f"the geocoder gave no answer within {self.service.seconds:g} s") from None
        self._cache.move_to_end(place)
        return self._cache[place]

    async def search(self, keyword: str) -> tuple[FoundAddress, ...]:
        """Return the places that the geocoder finds by a name or an address, MAX_FOUND at most.

        None where a geocoder of one's own is not known to search.

        Raises:
            Unreachable: the geocoder gives no answer now.
            DeliveryRefused: its response cannot be read.
        """
        service, search = self.service, self._search
        url = search.url_at(service.url)
        if url is None:
            return ()
        key = " ".join(keyword.casefold().split())
        if key not in self._searches:
            try:
                with trio.fail_after(service.seconds):
                    await self._wait_for_rate_limit()
                    parameters = {search.keyword: keyword} if search.keyword else {}
                    answer = await self._ask(
                        url.replace("{keyword}", quote(keyword, safe="")), {**parameters, **search.parameters}
                    )
            except trio.TooSlowError:
                raise Unreachable(f"the geocoder gave no answer within {service.seconds:g} s") from None
            self._searches[key] = self._read_found(answer)
            while len(self._searches) > MAX_SEARCHES:
                self._searches.popitem(last=False)
        self._searches.move_to_end(key)
        return self._searches[key]

    async def _look_up(self, place: Place) -> None:
        done = self._pending[place] = trio.Event()
        try:
            await self._wait_for_rate_limit()
            found = await self._request(place)
        finally:
            del self._pending[place]
            done.set()
        self._cache[place] = "" if found is None else format_address(found, self.service.format)
        while len(self._cache) > self.service.cache_size:
            self._cache.popitem(last=False)

    async def _wait_for_rate_limit(self) -> None:
        if self.service.per_second <= 0:
            return
        now = self._monotonic()
        turn = max(now, self._next_request_at)
        if turn - now >= self.service.seconds:
            raise Unreachable("the geocoder is asked more often than it may be")
        self._next_request_at = turn + 1 / self.service.per_second
        await trio.sleep(turn - now)

    async def _request(self, place: Place) -> Address | None:
        provider = self._provider
        latitude, longitude = (f"{degrees:.{DECIMALS}f}" for degrees in place)
        parameters = {
            name: _fill_in(value, latitude, longitude) for name, value in provider.parameters.items()
        }
        answer = await self._ask(_fill_in(self.service.url or provider.url, latitude, longitude), parameters)
        if answer.status in provider.no_address:
            return None
        content = self._content(answer)
        try:
            return provider.read(content)
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            raise DeliveryRefused("the geocoder's answer cannot be read") from None

    async def _ask(self, url: str, parameters: Mapping[str, str]) -> HttpResponse:
        """Send a request with key and language."""
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
                latitude, longitude = map(float, form.point(row))
                name = address and (address.full or format_address(address, self.service.format))
                if name and -90 <= latitude <= 90 and math.isfinite(longitude):
                    found.append(FoundAddress(name, latitude, longitude))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            raise DeliveryRefused("the geocoder's answer cannot be read") from None
        return tuple(found)


def _rounded(place: Place) -> Place:
    # Adding 0.0 turns -0.0 into 0.0.
    return (round(place[0], DECIMALS) + 0.0, round(place[1], DECIMALS) + 0.0)


def _fill_in(text: str, latitude: str, longitude: str) -> str:
    return text.replace("{latitude}", latitude).replace("{longitude}", longitude)
