"""Settings of the geocoder; the form of a setting is described in api/settings.py."""

from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from motorpool.actors.geocoding.addresses import DEFAULT_FORMAT
from motorpool.actors.geocoding.geocoders import PROVIDERS


@dataclass(frozen=True, kw_only=True)
class GeocoderSettings:
    """Who knows the addresses of places."""

    type: Annotated[str | None, Meta(extra={"choices": tuple(sorted(PROVIDERS)), "destination": True})] = None
    """Kind of the geocoder; with it addresses are looked up."""
    url: Annotated[str | None, Meta(extra={"form": "service", "destination": True})] = field(
        default=None, repr=False
    )
    """Address of a geocoder of your own; unset: the public one of that kind."""
    key: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """The key that the geocoder gave you."""
    language: str | None = None
    """Language of addresses: `de`; unset: the geocoder's choice."""
    format: str = DEFAULT_FORMAT
    """Form of an address: `%h` house, `%r` road, `%t` settlement, `%u` suburb, `%d` district, `%s` state,
    `%c` country, `%p` postcode, `%f` as the geocoder writes it."""
    cache_size: Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "places"})] = 10_000
    """Addresses that are remembered."""
    per_second: Annotated[float, Meta(ge=0)] = 1.0
    """Questions a second at most, as the public Nominatim demands; 0 is no limit."""
    seconds: Annotated[float, Meta(ge=1, le=60, extra={"unit": "s"})] = 10.0
    """An address is found within this, waiting in line included."""
    on_request: bool = True
    """Whether reports look up addresses that positions lack."""
    request_seconds: Annotated[float, Meta(ge=0, le=300, extra={"unit": "s"})] = 10.0
    """A report waits at most this long for addresses, and leaves out those that were not found."""
    positions: bool = False
    """Whether each stored position gets an address, shortly after it was stored."""
    reuse_metres: Annotated[float, Meta(ge=0, le=100_000, extra={"unit": "m"})] = 0.0
    """A position this close to the device's last one with an address gets the same address."""
