"""Questions to the actor that knows which user may see which device (actors/accounts/access.py)."""

import msgspec

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind, Request


class MaySee(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """Whether the device exists and the user may see it."""

    user_id: int
    """0 stands for an administrator, who may see every device."""
    device_id: int


class GetVisible(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The devices that a user sees by links to them or to their groups.

    The same set object is returned until a change concerns the user.
    """

    user_id: int


class GetViewers(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The users who see a device by links."""

    device_id: int


class GetMembers(msgspec.Struct, Request[frozenset[int]], frozen=True, gc=False):
    """The devices of a group and of the two levels of groups below it."""

    group_id: int


class CoversGuest(msgspec.Struct, Request[bool], frozen=True, gc=False):
    """Whether a user still sees all that they gave a temporary user by sharing, and whether there is any."""

    user_id: int
    """0 stands for an administrator, who may see every device and group."""
    guest_id: int


AccessMessage = CoversGuest | MaySee | GetVisible | GetViewers | GetMembers | ApplyChanges
ACCESS: Kind[None, AccessMessage] = Kind("access")
