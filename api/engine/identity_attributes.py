"""Checks the attributes that say who may report as a device, before they are stored
(docs/devices.md#who-a-device-is).
"""

from collections.abc import Callable, Mapping
from typing import Any

from motorpool.actors.rules.identity_rules import (
    BINDING_KEY,
    BINDINGS,
    NETWORKS_KEY,
    PROTOCOLS_KEY,
    SECRET_KEY,
    parse_networks,
    parse_protocols,
)
from motorpool.api.http.errors import BadRequest
from motorpool.codecs.devices import CODECS

MIN_SECRET = 8
"""Characters of a secret."""
SHOWN_KEYS = (BINDING_KEY, PROTOCOLS_KEY, NETWORKS_KEY)
"""Those that an audit row shows the values of."""


def require_identity_attributes(new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    """Raise BadRequest if one of them was changed to something that cannot be followed.

    Null and an empty text stand for none.
    """
    for key, fault in _FAULTS.items():
        value = new.get(key)
        if value in (None, "") or value == old.get(key):
            continue
        problem = fault(value.strip()) if isinstance(value, str) else "is not a text"
        if problem:
            raise BadRequest(f"attributes.{key}: {problem}")


def changes_identity(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether the device is meant to report in another way from now on."""
    return any(new.get(key) != old.get(key) for key in (BINDING_KEY, PROTOCOLS_KEY))


def names_other_reporters(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether others may report as a device from now on; null and an empty text stand for none."""
    return any((new.get(key) or None) != (old.get(key) or None) for key in _FAULTS)


def _binding_fault(text: str) -> str:
    return "" if text.lower() in BINDINGS else f"is none of {', '.join(BINDINGS)}"


def _protocols_fault(text: str) -> str:
    unknown = parse_protocols(text) - CODECS.keys()
    return f"no such protocol: {', '.join(sorted(unknown))[:100]}" if unknown else ""


def _networks_fault(text: str) -> str:
    try:
        parse_networks(text)
    except ValueError as error:
        return str(error)[:200]
    return ""


def _secret_fault(text: str) -> str:
    return "" if len(text) >= MIN_SECRET else f"has fewer than {MIN_SECRET} characters"


_FAULTS: Mapping[str, Callable[[str], str]] = {
    BINDING_KEY: _binding_fault,
    PROTOCOLS_KEY: _protocols_fault,
    NETWORKS_KEY: _networks_fault,
    SECRET_KEY: _secret_fault,
}
