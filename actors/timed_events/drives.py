"""When devices drove, as their events of motion say. Pure.

A large fleet has millions of drives in four weeks, so they are packed: each device has one `bytes` object,
with 32 bytes for each drive.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from motorpool.storage.rules.driver_hours import Motion

_PACKED: Final = struct.Struct("<qqqq")
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)
_OPEN: Final = -(2**63)
"""Stands for the end of a drive that has none."""


class Drive(NamedTuple):
    """A device drove."""

    start: datetime
    end: datetime | None
    """None: it drives."""
    card: int = 0
    """What stands for the driver whom the device reported (`card_of`)."""
    by_hand: int = 0
    """The id of the driver whom a user entered; 0: none."""


def card_of(unique_id: str | None) -> int:
    """Return what stands for the unique id of a driver, in this process; 0 for none."""
    return hash(unique_id) if unique_id else 0


def pack(drives: Iterable[Drive]) -> bytes:
    """Return drives as bytes."""
    return b"".join(
        _PACKED.pack((start - EPOCH) // _TICK, (end - EPOCH) // _TICK if end else _OPEN, card, by_hand)
        for start, end, card, by_hand in drives
    )


def unpack(packed: bytes) -> Iterator[Drive]:
    """Yield drives in their order."""
    return (_drive(*row) for row in _PACKED.iter_unpack(packed))


def since(packed: bytes, instant: datetime) -> bytes:
    """Return the drives at the end that go on, or ended at an instant or later."""
    tick, at = (instant - EPOCH) // _TICK, len(packed)
    while at:
        _, end, _, _ = _PACKED.unpack_from(packed, at - _PACKED.size)
        if _OPEN < end < tick:
            break
        at -= _PACKED.size
    return packed[at:]


def drivers_in(packed: bytes) -> set[tuple[int, int]]:
    """Return all pairs of `card` and `by_hand` in some drives."""
    return {(card, by_hand) for _, _, card, by_hand in _PACKED.iter_unpack(packed)}


def continued(known: Sequence[Drive], motions: Iterable[Motion], instant: datetime) -> list[Drive]:
    """Return the drives of a device: those known, with what began or ended since an instant read anew."""
    drives = [drive for drive in known if drive.start < instant]
    if drives and drives[-1].end is not None and drives[-1].end >= instant:
        drives[-1] = drives[-1]._replace(end=None)
    for motion in motions:
        drives_now = bool(drives) and drives[-1].end is None
        card = card_of(motion.reported)
        if motion.is_moving and not drives_now:
            drives.append(Drive(motion.time, None, card))
        elif not motion.is_moving and drives_now:
            drives[-1] = drives[-1]._replace(end=motion.time, card=drives[-1].card or card)
    return drives


def _drive(start: int, end: int, card: int, by_hand: int) -> Drive:
    return Drive(
        EPOCH + timedelta(microseconds=start),
        None if end == _OPEN else EPOCH + timedelta(microseconds=end),
        card,
        by_hand,
    )
