"""Photos, which a device sends in parts (docs/protocols/ruptela.md#photos)."""

from motorpool.codecs.devices.ruptela.frames import server_frame
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import ImmediateReply, MediaFile, Report

FILES = 37
PART = 2
"""The kind of message that has a part of a file."""
MAX_PHOTO_BYTES = 1 << 20


class Photo:
    """A photo whose parts are still coming."""

    def __init__(self, name: bytes, first: int) -> None:
        self.name = name
        """Source and file name."""
        self.first = first
        """Number of the first part: 0 or 1."""
        self.next = first
        self.content = bytearray()


def read_part(reader: ByteReader, photo: Photo | None, reports: list[Report]) -> Photo | None:
    """Append the request for the next part, or the photo; return the photo that is not complete yet.

    Raises:
        CodecError: another part was asked for, or the photo is too large.
    """
    name = reader.take(9)
    total, current = reader.uint16(), reader.uint16()
    if photo is None or photo.name != name or (current == photo.first and photo.next > photo.first + 1):
        if current > 1 or not total:
            raise CodecError(f"part {current} of a photo that was not asked for")
        photo = Photo(name, current)
    content = reader.rest()
    if current == photo.next:
        if not content or len(photo.content) + len(content) > MAX_PHOTO_BYTES:
            raise CodecError(f"a part without content, or a photo of more than {MAX_PHOTO_BYTES} bytes")
        photo.content += content
        photo.next += 1
    elif current != photo.next - 1:  # a part that is sent again is asked for no more
        raise CodecError(f"part {current} of a photo instead of {photo.next}")
    if photo.next - photo.first >= total:
        reports.append(MediaFile("image", "jpg", bytes(photo.content)))
        return None
    request = bytes((PART,)) + name + photo.next.to_bytes(2, "big")
    reports.append(ImmediateReply(server_frame(FILES, request)))
    return photo
