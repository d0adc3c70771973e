"""Frames between delimiters that never occur inside them."""

from motorpool.codecs.devices.framing.rejection import rejected
from motorpool.codecs.reports import FrameRejected


class DelimiterFramer:
    """Frames between delimiters that never occur inside them (JT/T 808: `7e`, with escaping).

    Whatever is between two delimiters is a frame, so that a delimiter shared by two frames and repeated
    delimiters need no treatment of their own. Bytes before the first delimiter are rejected, and so is a
    frame that grows beyond the limit; the stream is then resumed at the next delimiter.
    """

    __slots__ = ("_delimiter", "_max_frame_bytes", "_overflowed", "_partial", "_synchronized")

    def __init__(self, delimiter: bytes, max_frame_bytes: int) -> None:
        assert len(delimiter) == 1  # a longer one could be divided between two reads
        self._delimiter = delimiter
        self._max_frame_bytes = max_frame_bytes
        self._partial = b""
        """The beginning of an unfinished frame."""
        self._synchronized = False
        """Whether a delimiter was seen."""
        self._overflowed = False
        """Whether the unfinished frame was too long and is skipped up to its end."""

    @property
    def buffered(self) -> int:
        """Bytes held of the unfinished frame, at most `max_frame_bytes`."""
        return len(self._partial)

    @property
    def at_boundary(self) -> bool:
        """Whether the next byte may begin a frame: after a delimiter, or at the start of the stream."""
        return not self._partial and not self._overflowed

    @property
    def is_idle(self) -> bool:
        """Whether a delimiter was seen and nothing behind the last one."""
        return self._synchronized and not self._partial and not self._overflowed

    def release(self, prefix: bytes) -> bytes:
        """Remove and return the unfinished frame where it is a beginning of `prefix`; else return nothing.

        For streams in which something other than a frame may stand at a boundary.
        """
        released = self._partial if not self._overflowed and prefix.startswith(self._partial) else b""
        if released:
            self._partial = b""
        return released

    def take(self) -> bytes:
        """Remove and return the last delimiter and what followed it; nothing where bytes are being skipped.

        For streams that go on with frames of another kind.
        """
        taken = self._delimiter + self._partial if self._synchronized and not self._overflowed else b""
        self._partial = b""
        return taken

    def receive(self, data: bytes) -> list[bytes | FrameRejected]:
        """Return the frames that end in these bytes, in order and without delimiters; never an empty one."""
        pieces = data.split(self._delimiter)
        if self._partial:
            pieces[0] = self._partial + pieces[0]
        self._partial = pieces.pop()
        frames: list[bytes | FrameRejected] = []
        if pieces and (self._overflowed or not self._synchronized):
            self._synchronize(pieces, frames)
        limit = self._max_frame_bytes
        frames += [piece if len(piece) <= limit else self._oversized(piece) for piece in pieces if piece]
        if self._overflowed or len(self._partial) > limit:
            if not self._overflowed:
                frames.append(self._oversized(self._partial))
            self._overflowed = True
            self._partial = b""
        return frames

    def _synchronize(self, pieces: list[bytes], frames: list[bytes | FrameRejected]) -> None:
        """Drop what came before the first delimiter, or the end of an oversized frame."""
        before = pieces[0]
        pieces[0] = b""
        if not self._overflowed and before:
            if len(before) > self._max_frame_bytes:
                frames.append(self._oversized(before))
            else:
                frames.append(rejected("bytes before the first delimiter", before))
        self._synchronized = True
        self._overflowed = False

    def _oversized(self, frame: bytes) -> FrameRejected:
        return rejected(f"more than {self._max_frame_bytes} bytes without a delimiter", frame)
