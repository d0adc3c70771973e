"""Attributes that codecs read, such as `h02.ack` (docs/protocols/common.md#attributes-of-protocols)."""

from collections.abc import Iterable, Mapping
from typing import Any

from motorpool.codecs.devices import CODECS


def is_of_a_protocol(key: str) -> bool:
    """Whether a codec may read this attribute (`DeviceCodec.configure`)."""
    return key == "devicePassword" or ("." in key and key.partition(".")[0] in CODECS)


def attributes_of_protocols(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that codecs read."""
    return {key: value for key, value in attributes.items() if is_of_a_protocol(key)}


def read_assignments(texts: Iterable[str]) -> dict[str, str]:
    """Return the attributes that `key=value` texts set."""
    pairs = (text.partition("=") for text in texts)
    return {key.strip(): value.strip() for key, _, value in pairs}
