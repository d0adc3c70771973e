"""One module a resource; here they come together."""

from motorpool.api.engine.operations import Operation
from motorpool.api.resources import (
    commands,
    devices,
    groups,
    permissions,
    positions,
    server,
    session,
    streams,
    users,
)

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (
    *session.OPERATIONS,
    *users.OPERATIONS,
    *devices.OPERATIONS,
    *groups.OPERATIONS,
    *permissions.OPERATIONS,
    *positions.OPERATIONS,
    *commands.OPERATIONS,
    *streams.OPERATIONS,
    *server.OPERATIONS,
)
"""Every operation under /api but the document that describes them."""
