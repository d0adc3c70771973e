"""Saved commands (docs/commands.md)."""

from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage.accounts import links
from motorpool.storage.devices import commands
from motorpool.storage.records import Command

OPERATIONS = Operations("commands")


SAVED_COMMANDS = Resource(
    name="command",
    path="commands",
    policy=LinkedPolicy[Command](
        commands.TABLE,
        links.USER_COMMAND,
        filters=(links.DEVICE_COMMAND, links.GROUP_COMMAND),
        required=("type",),
    ),
    # A saved command is for any device, so a device sent by a client is not stored.
    read_only=("device_id",),
)
add_resource_operations(SAVED_COMMANDS, OPERATIONS)
