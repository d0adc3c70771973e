"""What readers of the log see of the commands in it (docs/commands.md#log)."""

import msgspec

from motorpool.actors.devices.command_validation import CUSTOM
from motorpool.actors.words.masking import MASK
from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import SEND_UNSAVED_COMMANDS
from motorpool.storage.devices.command_log import LoggedCommand
from motorpool.storage.secret_attributes import ENCRYPTED

_SECRETS = frozenset(path[-1].lower() for path in ENCRYPTED)
_SECRET_WORDS = ("password", "secret")


def shown_to(caller: Caller, command: LoggedCommand) -> LoggedCommand:
    """Return a command as the caller sees it: those who may not send such commands get no secrets in it.

    What is written in a `custom` command may be anything, so all of it is masked. Holders of a share link
    are not told who sent it.
    """
    if caller.user.temporary:
        command = msgspec.structs.replace(command, user_name=None)
    if SEND_UNSAVED_COMMANDS.holds(caller) or not command.attributes:
        return command
    masked = {
        name: MASK if command.type == CUSTOM or _is_secret(name) else value
        for name, value in command.attributes.items()
    }
    return msgspec.structs.replace(command, attributes=masked)


def _is_secret(name: str) -> bool:
    lower = name.lower()
    return lower in _SECRETS or any(word in lower for word in _SECRET_WORDS)
