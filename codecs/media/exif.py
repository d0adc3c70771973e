"""The time at which a camera took a picture, by its own clock: Exif 2.32 in JPEG."""

from datetime import datetime

HEAD_BYTES = 64 * 1024
"""The segment with Exif is among the first, and no longer than this."""
_SOI, _APP1, _SCAN = b"\xff\xd8", 0xE1, 0xDA
_SIGNATURE = b"Exif\0\0"
_EXIF_IFD, _DATE_TIME, _DATE_TIME_ORIGINAL = 0x8769, 0x0132, 0x9003
_MAX_ENTRIES = 200


def taken_at(head: bytes) -> datetime | None:
    """Return when a picture was taken, without a time zone: cameras write what they take for local time.

    `head` are the first `HEAD_BYTES` of the file. None where they say nothing that can be read.
    """
    tiff = _exif_of(head)
    order = {b"II": "little", b"MM": "big"}.get(tiff[:2])
    if order is None:
        return None
    entries = _entries(tiff, _number(tiff[4:8], order), order)
    original = _entries(tiff, entries.get(_EXIF_IFD, len(tiff)), order)
    place = original.get(_DATE_TIME_ORIGINAL) or entries.get(_DATE_TIME)
    if place is None:
        return None
    try:
        return datetime.strptime(tiff[place : place + 19].decode("ascii"), "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007
    except ValueError:
        return None


def _exif_of(head: bytes) -> bytes:
    """Return the TIFF structure in a JPEG file; empty where there is none."""
    if not head.startswith(_SOI):
        return b""
    place = len(_SOI)
    while head[place : place + 1] == b"\xff" and place + 4 <= len(head):
        marker, size = head[place + 1], int.from_bytes(head[place + 2 : place + 4])
        content = head[place + 4 : place + 2 + size]
        if marker == _APP1 and content.startswith(_SIGNATURE):
            return content[len(_SIGNATURE) :]
        if marker == _SCAN or size < 2:
            break
        place += 2 + size
    return b""


def _entries(tiff: bytes, place: int, order: str) -> dict[int, int]:
    """Return the values or offsets of a directory by tag."""
    count = min(_number(tiff[place : place + 2], order), _MAX_ENTRIES)
    found = {}
    for first in range(place + 2, place + 2 + 12 * count, 12):
        found[_number(tiff[first : first + 2], order)] = _number(tiff[first + 8 : first + 12], order)
    return found


def _number(field: bytes, order: str) -> int:
    return int.from_bytes(field, "little" if order == "little" else "big")
