"""Postal addresses, and their form in one line
(docs/server.md#health-and-diagnostics).
"""

import re

import msgspec

DEFAULT_FORMAT = "%h %r, %t, %s, %c"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an address that a geocoder found; empty strings for the others."""

    house: str = ""
    road: str = ""
    settlement: str = ""
    """City, town or village."""
    suburb: str = ""
    district: str = ""
    """County or region."""
    state: str = ""
    country: str = ""
    """Country code of two letters (three from some geocoders), upper case."""
    postcode: str = ""
    full: str = ""
    """The whole address as the geocoder formats it."""


_PARTS = {
    "h": "house",
    "r": "road",
    "t": "settlement",
    "u": "suburb",
    "d": "district",
    "s": "state",
    "c": "country",
    "p": "postcode",
    "f": "full",
}
_PLACE = re.compile(f"%([{''.join(_PARTS)}])")


def format_address(address: Address, template: str = DEFAULT_FORMAT) -> str:
    """Format an address by the template; a missing part is left out with the separator before it.

    Where every part is missing, return `full`.
    """
    pieces = _PLACE.split(template)
    # Literal, letter, literal, letter, …, literal: each separator belongs to the part behind it.
    written = ""
    for separator, letter in zip(pieces[0::2], pieces[1::2], strict=False):
        value = getattr(address, _PARTS[letter])
        if value:
            written += separator + value if written else separator.lstrip(", ") + value
    return written + pieces[-1] if written else address.full
