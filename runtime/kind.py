"""Addresses and requests carry types, so that a ref knows its messages and an ask knows its answer."""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
M = TypeVar("M")
T = TypeVar("T")


class Kind(Generic[K, M]):
    """A group of actors: keys of type K, messages of type M.

    `DEVICE: Kind[int, DeviceMessage] = Kind("device")`. Kinds compare by identity: make one per group, at
    module level. Actors of which there is only one have a `Kind[None, M]`.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        if not name or "/" in name:
            raise ValueError(f"a kind needs a name without a slash, not {name!r}")
        self.name = name

    def __repr__(self) -> str:
        return f"Kind({self.name!r})"


class Request(Generic[T]):
    """Base of messages that expect an answer of type T: `class GetPlaylist(Request[str])`.

    Mixes with frozen slotted dataclasses and with msgspec structs; it adds no attribute of its own.
    """

    __slots__ = ()


class NodeLocal:
    """Base of messages that never leave their process: they hold a ref, media bytes or an open file.

    All other messages are plain values that MessagePack carries unchanged to a server elsewhere
    (`tests/actors/messages/test_portable.py` packs each of them). Adds no attribute of its own.
    """

    __slots__ = ()
