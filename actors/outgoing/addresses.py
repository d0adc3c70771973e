"""What a place is called, and how the parts of an address become one line
(docs/server.md#health-and-diagnostics).
"""

import re

import msgspec

__all__ = ["DEFAULT_FORMAT", "Address", "write_address"]

DEFAULT_FORMAT = "%h %r, %t, %s, %c"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that a geocoder found; empty where it found none."""

    house: str = ""
    road: str = ""
    settlement: str = ""
    """City, town or village."""
    suburb: str = ""
    district: str = ""
    """County."""
    state: str = ""
    country: str = ""
    """Its code of two letters (three from some geocoders), in capitals."""
    postcode: str = ""
    full: str = ""
    """All of it in the geocoder's own way."""


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


def write_address(address: Address, template: str = DEFAULT_FORMAT) -> str:
    """Fill in the template; a part that is missing takes the separator before it along.

    Where none of the parts is there, the geocoder's own line is the answer.
    """
    pieces = _PLACE.split(template)
    # Literal, letter, literal, letter, …, literal: each separator belongs to the part behind it.
    written = ""
    for separator, letter in zip(pieces[0::2], pieces[1::2], strict=False):
        value = getattr(address, _PARTS[letter])
        if value:
            written += separator + value if written else separator.lstrip(", ") + value
    return written + pieces[-1] if written else address.full
