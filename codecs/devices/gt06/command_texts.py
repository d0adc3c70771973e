"""Commands, which are texts (docs/protocols/gt06.md#commands)."""

from collections.abc import Mapping
from typing import Any

from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand

TEXT_COMMANDS = frozenset(("engineStop", "engineResume"))
MAX_TEXT = 250
"""The length of a message is a byte."""
DEFAULT_PASSWORD = "123456"  # noqa: S105 - with which devices are delivered


def command_text(command: DeviceCommand, model: str, options: Mapping[str, Any], password: str) -> bytes:
    """Return the text of a command.

    Args:
        command: `custom` with the text as `data`, or one of `TEXT_COMMANDS`.
        model: of the device, upper-case.
        options: `alternative` makes a device with that firmware understand it.
        password: for those; empty: the one that devices are delivered with.

    Raises:
        UnsupportedCommand: there is no text for it, or it is too long or not ASCII.
    """
    is_stop = command.type == "engineStop"
    if command.type == "custom":
        text = command.attributes.get("data")
        if not isinstance(text, str) or not text or not text.isascii() or len(text) > MAX_TEXT - 10:
            raise UnsupportedCommand(f"data must be an ASCII text of 1 to {MAX_TEXT - 10} characters")
    elif command.type not in TEXT_COMMANDS:
        raise UnsupportedCommand(f"gt06 has no message for {command.type}")
    elif model == "G109":
        text = "DYD#" if is_stop else "HFYD#"
    elif options.get("alternative"):
        text = f"{'DYD' if is_stop else 'HFYD'},{password or DEFAULT_PASSWORD}#"
        if not text.isascii() or len(text) > MAX_TEXT - 10:
            raise UnsupportedCommand("the password of the device cannot be sent")
    else:
        text = f"Relay,{1 if is_stop else 0}#"
    return text.encode()
