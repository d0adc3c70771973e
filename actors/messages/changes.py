"""Facts of the change feed: what a committed transaction has changed.

They are plain values that can be packed. `actors/change_feed.py` publishes them and lists who follows them.
To add a fact: a struct here, a member of `Change`, and a case at the followers that it concerns.
"""

from collections.abc import Container
from typing import Literal

import msgspec

from motorpool.runtime import Kind, Request, TopicName

Operation = Literal["created", "updated", "deleted"]


class RowChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A row of a table was created, updated or deleted."""

    id: int
    operation: Operation
    fields: tuple[str, ...] = ()
    """After an update the names of the changed fields; a changed attribute is `attributes.<key>`."""

    @property
    def created_or_deleted(self) -> bool:
        """Whether it is the row itself that came or went, and not its fields that changed."""
        return self.operation != "updated"

    def only(self, names: Container[str]) -> bool:
        """Whether fields were updated, and none but these."""
        return bool(self.fields) and all(field in names for field in self.fields)


class _MemberChanged(RowChanged, frozen=True, gc=False):
    @property
    def affects_visibility(self) -> bool:
        """Whether others may see the device, or those of the group: it came, went, or has another group."""
        return self.created_or_deleted or "group_id" in self.fields


class DeviceChanged(_MemberChanged, frozen=True, gc=False):
    """A device."""


class GroupChanged(_MemberChanged, frozen=True, gc=False):
    """A group of devices."""


class UserChanged(RowChanged, frozen=True, gc=False):
    """A user: the row, the password, or whether sessions and tokens are still valid.

    The last two are no fields of the row.
    """


class CalendarChanged(RowChanged, frozen=True, gc=False):
    """A calendar."""


class ScheduleChanged(RowChanged, frozen=True, gc=False):
    """A scheduled command."""


class GeofenceChanged(RowChanged, frozen=True, gc=False):
    """A geofence."""


class AttributeChanged(RowChanged, frozen=True, gc=False):
    """A computed attribute."""


class MaintenanceChanged(RowChanged, frozen=True, gc=False):
    """A maintenance task."""


class DriverChanged(RowChanged, frozen=True, gc=False):
    """A driver."""


class NotificationChanged(RowChanged, frozen=True, gc=False):
    """A notification."""


class ScheduledReportChanged(RowChanged, frozen=True, gc=False):
    """A scheduled report."""


class TicketChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A ticket was created, changed or deleted."""

    id: int
    operation: Operation
    company_id: int
    version: int
    """The version of the ticket that the change made."""


class CompanyChanged(RowChanged, frozen=True, gc=False):
    """A company; if it was deleted, what belongs to it is gone as well, without facts of its own."""


class TicketPriorityChanged(RowChanged, frozen=True, gc=False):
    """A priority of tickets."""


class LinkChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A link between two objects was added or removed, or perhaps left as it was."""

    owner: str
    """Type of the owner: "user", "device" or "group" (storage/accounts/links.py)."""
    owner_id: int
    property: str
    """Type of the property: "device", "group", "geofence" ..."""
    property_id: int


class PositionsDeleted(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Stored positions of a device were deleted: the newest one left is its latest."""

    device_id: int


class ServerChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The row of the server's settings was updated."""

    fields: tuple[str, ...]
    """As `RowChanged.fields`."""


class SettingsChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Settings in the database were changed (docs/server.md#settings-at-run-time)."""


class SessionEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A session was closed."""

    id: str
    """The digest under which it is stored."""


class TokenRevoked(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A token was revoked; the sessions that began with it have ended."""

    id: str
    user_id: int


class QueueFilled(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A command was queued for a device, which may be connected to another server."""

    device_id: int


class DeviceMoved(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A device has connected to a server while it was connected to another one."""

    device_id: int


class DutyReleased(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A server that ends has left a duty to the others."""

    name: str


class ServerEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A server is dead, as its row says: its process has ended without leaving anything to the others."""

    node: int


class EverythingChanged(msgspec.Struct, frozen=True, gc=False, tag=True):
    """It is not known what was changed, or whether there was a commit at all."""


Change = (
    DeviceChanged
    | GroupChanged
    | UserChanged
    | CalendarChanged
    | ScheduleChanged
    | GeofenceChanged
    | AttributeChanged
    | MaintenanceChanged
    | DriverChanged
    | NotificationChanged
    | ScheduledReportChanged
    | TicketChanged
    | CompanyChanged
    | TicketPriorityChanged
    | LinkChanged
    | PositionsDeleted
    | ServerChanged
    | SettingsChanged
    | SessionEnded
    | TokenRevoked
    | QueueFilled
    | DeviceMoved
    | DutyReleased
    | ServerEnded
    | EverythingChanged
)


class ApplyChanges(msgspec.Struct, Request[None], frozen=True, gc=False):
    """Bring what the actor holds in memory up to date with committed changes; answered when that is done."""

    changes: tuple[Change, ...]
    """All of one commit, also those that do not concern the actor."""


SETTINGS_READER: Kind[None, ApplyChanges] = Kind("settings_reader")
"""Reads the settings of the database."""

LOCAL_CHANGES: TopicName[tuple[Change, ...]] = TopicName("local changes")
"""Each commit of this server, for the other servers of the database. For `Topic.listen` only."""

COMMITTED_CHANGES: TopicName[tuple[Change, ...]] = TopicName("committed changes")
"""Each commit, before actors follow it. For `Topic.listen` only: caches drop rows without waiting."""

CHANGES: TopicName[tuple[Change, ...]] = TopicName("changes")
"""Each commit that changed more than tickets, after all followers have applied it: their answers now show
what was committed."""

TICKETS: TopicName[tuple[TicketChanged, ...]] = TopicName("tickets")
"""The tickets that each commit changed. A topic of its own: they change far more often than the rest."""


def changed_fields(old: msgspec.Struct, new: msgspec.Struct) -> tuple[str, ...]:
    """Return the names of the fields of `old` that differ in `new`, as in `RowChanged.fields`."""
    names: list[str] = []
    for name in old.__struct_fields__:
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        if name == "attributes":
            keys = sorted({*before, *after})
            absent = msgspec.UNSET
            names += [
                f"attributes.{key}" for key in keys if before.get(key, absent) != after.get(key, absent)
            ]
        else:
            names.append(name)
    return tuple(names)
