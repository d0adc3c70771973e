"""Saved commands: what is to be sent again and again (docs/commands.md)."""

from motorpool.api.engine.operations import Operations
from motorpool.api.engine.plain_policy import Plain
from motorpool.api.engine.resource import USUAL, Resource, serve_family
from motorpool.storage import commands, links
from motorpool.storage.records import Command

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("commands")


SAVED_COMMANDS = Resource(
    name="command",
    path="commands",
    shape=Command,
    table=commands.TABLE,
    policy=Plain[Command](
        commands.TABLE,
        links.USER_COMMAND,
        device_link=links.DEVICE_COMMAND,
        group_link=links.GROUP_COMMAND,
        needed=("type",),
    ),
    parameters=USUAL | {"device_id", "group_id"},
    # A saved command is for any device: what a client sends along is not kept.
    read_only=("device_id",),
)
serve_family(SAVED_COMMANDS, OPERATIONS)
