"""A photo that arrives in packets (docs/protocols/meitrack.md#photos)."""

import re
from typing import Final

from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import MediaFile

PHOTO_NAME: Final = "camera_picture.jpg"
MAX_PHOTO_BYTES: Final = 1 << 20
_PACKETS_OF_A_REQUEST = 8
_PACKET = re.compile(rb"([ -+\--~]{1,80}),([0-9]{1,6}),([0-9]{1,6}),(.*)", re.DOTALL)
_EXTENSION = re.compile(r"\.([0-9A-Za-z]{1,5})$")


class Photo:
    """Joins the packets of one photo at a time."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._next = 0

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return len(self._content)

    def clear(self) -> None:
        """Forget the packets."""
        self._content.clear()
        self._next = 0

    def add(self, packet: bytes) -> MediaFile | str | None:
        """Take `name,total,index,bytes`.

        Returns:
            The photo with its last packet; what to request where that many packets have come, `name,index`;
            else None.

        Raises:
            CodecError: no such packet, one out of turn, or a photo that is too long. It is forgotten then.
        """
        found = _PACKET.fullmatch(packet)
        if found is None:
            raise CodecError("a packet without name, number and index")
        name, total, index, content = found[1].decode(), int(found[2]), int(found[3]), found[4]
        if index == 0:
            self.clear()
        elif index < self._next:
            return None  # once more
        if index != self._next or index >= total:
            self.clear()
            raise CodecError(f"packet {index} of a photo is out of turn")
        if len(self._content) + len(content) > MAX_PHOTO_BYTES:
            self.clear()
            raise CodecError(f"a photo of more than {MAX_PHOTO_BYTES} bytes")
        self._content += content
        self._next += 1
        if self._next == total:
            extension = _EXTENSION.search(name)
            photo = MediaFile("image", extension[1].lower() if extension else "jpg", bytes(self._content))
            self.clear()
            return photo
        return f"{name},{self._next}" if self._next % _PACKETS_OF_A_REQUEST == 0 else None
