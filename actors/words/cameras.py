"""Cameras in words: `2 (front)` (docs/devices.md#cameras)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeGuard

from motorpool.codecs.devices.attributes import set_bits
from motorpool.storage.devices.camera_names import NO_NAMES, CameraNames
from motorpool.storage.records import Event, Position

CAMERA: Final = "channel"
"""The attribute of a position that came with a file: the number of the camera."""
CAMERA_BITS: Final[Mapping[str, str]] = {"videoLost": "videoSignalLost", "videoCovered": "cameraCovered"}
"""Attributes with a bit for each camera, and the alarms that say so."""
MOST: Final = 1000
"""Greater numbers are of no camera."""


def camera_number(number: int, names: CameraNames = NO_NAMES) -> str:
    """Return what stands after the word for a camera: `2 (front)`, else `2`."""
    name = names.get(str(number))
    return f"{number} ({name})" if name else str(number)


def cameras_of(event: Event, position: Position | None) -> Sequence[int]:
    """Return the cameras that an event is about: the one that recorded its file, or the ones that its alarm
    reports as faulty.
    """
    if position is None:
        return ()
    if event.type == "media":
        number = position.attributes.get(CAMERA)
        return (number,) if is_camera(number) else ()
    details = event.attributes.get("alarmDetail")
    if event.type != "alarm" or not isinstance(details, str):
        return ()
    exact = details.split(",")
    bits = [_bits(position.attributes.get(key)) for key, alarm in CAMERA_BITS.items() if alarm in exact]
    return sorted({bit + 1 for each in bits for bit in each})


def is_camera(number: object) -> TypeGuard[int]:
    """Whether this is the number of a camera."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 < number < MOST


def names_cameras(attributes: Iterable[str]) -> bool:
    """Whether some of these attributes are of cameras."""
    return any(key == CAMERA or key in CAMERA_BITS for key in attributes)


def _bits(value: object) -> list[int]:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
        return []
    return set_bits(value)
