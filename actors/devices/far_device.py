"""Devices of other servers, which the link reaches (docs/servers.md#nats): what is asked of them there."""

from collections.abc import Callable, Mapping
from typing import Any

from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.uplink import (
    DEVICE,
    CheckExpiration,
    CheckRules,
    CheckStatus,
    ConnectedElsewhere,
    DeliverQueued,
    DetachConnection,
    DeviceMessage,
    Disconnected,
    GetCommandTypes,
    SendCommand,
    SetAccumulators,
    SoundFormatOverdue,
    StoredElsewhere,
)
from motorpool.runtime import Actor, Carried, Far, Link, Placement
from motorpool.storage import errors

CARRIED: Carried[int, DeviceMessage] = Carried(DEVICE, int, (SendCommand, GetCommandTypes, SetAccumulators))
"""What the server of a device is asked, wherever the caller is."""
IGNORED = (
    # What changes is told to all servers; the actor there learns of it, and this one has nothing in memory.
    *(DeviceChanged, PositionsDeleted, DeliverQueued, StoredElsewhere, ConnectedElsewhere),
    # Of actors and connections that have ended.
    *(CheckRules, CheckStatus, CheckExpiration, SoundFormatOverdue, Disconnected, DetachConnection),
)
"""What needs no answer from an actor that holds no state. All else says that the device is here."""
ERRORS: Mapping[type[Exception], Callable[[Any], str]] = {
    **dict.fromkeys(
        (
            errors.StorageError,
            errors.StorageUnavailable,
            errors.NoAnswer,
            errors.DatabaseReadOnly,
            errors.DiskFull,
            errors.TooManyFiles,
            errors.TooManyConnections,
            errors.Overloaded,
            errors.Interrupted,
            errors.LockNotAvailable,
            errors.TookTooLong,
            errors.NotFound,
        ),
        str,
    ),
    # What users are told; its text may be the database's.
    errors.StatementRejected: lambda error: error.shown,
}
"""Errors that the answer of another server may raise here."""


def far_device(
    device_id: int, link: Link, placement: Placement[int], here: Callable[[int], Actor[DeviceMessage]]
) -> Actor[DeviceMessage]:
    """Return what stands for the actor of a device, and becomes it, made by `here`, if it lives here."""
    return Far(DEVICE, device_id, link, placement, here, carried=CARRIED.messages.values(), ignored=IGNORED)
