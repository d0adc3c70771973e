"""What servers of a cluster send each other of their devices (docs/servers.md#watching)."""

from datetime import datetime
from typing import Annotated

import msgspec

from motorpool.runtime import Request
from motorpool.storage.records import Event, Position


class DeviceUpdate(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Changes of one device."""

    device_id: int
    status: str | None = None
    """That at the server which sends this; None: the server has not heard from the device."""
    last_update: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    position: Position | None = None
    position_id: int = 0
    """In place of a position that is too long for a text; else 0."""


class RemoteEvent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """As `WebEvent`."""

    user_ids: tuple[int, ...]
    event: Event


class RemoteText(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One text of a server to the others."""

    server: int
    """The number of the sender."""
    devices: tuple[DeviceUpdate, ...] = ()
    events: tuple[RemoteEvent, ...] = ()
    reviews: tuple[int, ...] = ()
    """Events that have a review since now, or another one: the others read their rows."""
    commands: tuple[int, ...] = ()
    """Rows of the log of commands that were added or changed, likewise."""
    asks: bool = False
    """The sender does not know the status of the devices of others: they send it."""
    leaves: bool = False
    """The sender ends in order, and has sent everything."""
    files: str = ""
    """`folder_identity` of the sender's folder of files of devices; empty: it is not said here."""
    lost: bool = False
    """The sender had more events than wait at once, and has dropped some."""


class ApplyRemoteUpdates(msgspec.Struct, Request[tuple[Position, ...]], frozen=True, gc=False):
    """Apply updates of another server; return the positions that are now the latest of their devices."""

    server: int
    """0: none, what was read in the database."""
    updates: tuple[DeviceUpdate, ...]


class GetLoadedDevices(msgspec.Struct, Request[tuple[int, ...]], frozen=True, gc=False):
    """Return the ids of the devices whose latest position is held in memory."""
