"""Photos, which a device sends in parts (docs/protocols/gt06.md#photos)."""

from datetime import UTC, datetime
from typing import Final

from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import MediaFile, PositionReport

ANNOUNCEMENT, PART, MULTIMEDIA = 0x35, 0x36, 0x41
MAX_PHOTO_BYTES: Final = 1 << 20
PART_BYTES: Final = 1024
_PLACE_BYTES = 18
"""Time, fix, place, camera, source and format of an announcement."""
_MULTIMEDIA_PLACE_BYTES = 14 + 8
"""A place and a cell, in a form that is not known."""


class Photo:
    """The photo whose parts are coming."""

    def __init__(self, number: int, size: int) -> None:
        if not 0 < size <= MAX_PHOTO_BYTES:
            raise CodecError(f"a photo of {size} bytes, more than {MAX_PHOTO_BYTES} or none")
        self.number = number
        self.size = size
        """Bytes in all."""
        self.content = bytearray()
        self.parts = 0
        """Parts that have come."""

    def request(self) -> bytes:
        """Return the content of the message that asks for the next part."""
        offset = len(self.content)
        size = min(PART_BYTES, self.size - offset)
        return self.number.to_bytes(4, "big") + offset.to_bytes(4, "big") + size.to_bytes(2, "big")

    def add(
        self, part: bytes, position: PositionReport | None = None, receipt: bytes | None = None
    ) -> MediaFile | None:
        """Append a part; return the photo, taken at a position, where it was the last one."""
        if not part:
            raise CodecError("an empty part of a photo")
        self.content += part
        self.parts += 1
        if len(self.content) < self.size:
            return None
        return MediaFile("image", "jpg", bytes(self.content[: self.size]), position=position, receipt=receipt)


def read_announcement(reader: ByteReader) -> Photo:
    """Return the photo that a device announces."""
    reader.skip(_PLACE_BYTES)
    size, number = reader.uint32(), reader.uint32()
    return Photo(number, size)


def read_part(reader: ByteReader, photo: Photo | None) -> tuple[Photo, MediaFile | None]:
    """Append a part that was asked for; return the photo, and its file where it is complete."""
    number, offset = reader.uint32(), reader.uint32()
    part = reader.take(reader.uint16())
    if photo is None or number != photo.number or offset != len(photo.content):
        raise CodecError("a part of a photo that was not asked for")
    return photo, photo.add(part)


def read_multimedia(
    reader: ByteReader, photo: Photo | None, receipt: bytes
) -> tuple[Photo | None, MediaFile | None]:
    """Append a part that was not asked for; return the photo, and its file where it is complete.

    Other media than photos are skipped, and parts that come again.
    """
    reader.skip(8)  # serial number
    moment = datetime.fromtimestamp(reader.uint32(), UTC)
    reader.skip(_MULTIMEDIA_PLACE_BYTES)
    number, size, kind, form = reader.uint32(), reader.uint32(), reader.uint8(), reader.uint8()
    if kind or form:
        return photo, None
    reader.skip(1)  # event
    part = reader.uint16()
    if not part:
        photo = Photo(number, size)
    elif photo is None or number != photo.number or part > photo.parts:
        raise CodecError("a part of a photo out of turn")
    elif part < photo.parts:
        return photo, None
    return photo, photo.add(reader.rest(), PositionReport({}, moment, located=False), receipt)
