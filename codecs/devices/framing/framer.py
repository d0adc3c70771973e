"""Divides one stream into frames of the shapes that its protocol has."""

import re
from typing import Self

from motorpool.codecs.devices.framing.rejection import MAX_REJECTED_BYTES, rejected
from motorpool.codecs.devices.framing.shapes import INCOMPLETE, NO_FRAME, Shape
from motorpool.codecs.reports import FrameRejected


class Framing:
    """The shapes of a protocol and its longest frame; made once, shared by all connections."""

    __slots__ = ("by_first_byte", "ignored", "max_frame_bytes", "starts")

    def __init__(self, *shapes: Shape, max_frame_bytes: int, ignored: bytes = b"") -> None:
        r"""Take the shapes.

        Args:
            shapes: tried in this order where several may begin with the same byte. One that begins with any
                byte comes last.
            max_frame_bytes: bytes of the longest frame, and so the most that is held back of one.
            ignored: bytes that are dropped between frames without being reported, such as `\r\n`.
        """
        self.max_frame_bytes = max_frame_bytes
        self.ignored = ignored
        self.by_first_byte = tuple(
            ()
            if first in ignored
            else tuple(shape for shape in shapes if not shape.start or shape.start[0] == first)
            for first in range(256)
        )
        """The shapes of frames that may begin with each byte."""
        candidates = bytes(first for first in range(256) if self.by_first_byte[first])
        self.starts = re.compile(b"[" + re.escape(candidates) + b"]", re.DOTALL)
        """Finds the next byte with which a frame may begin."""

    def __deepcopy__(self, memo: object) -> Self:
        """Return this one: it never changes, and copies of a codec are made often (`explanation.py`)."""
        return self


class Framer:
    """The framer of one connection."""

    __slots__ = ("_framing", "_held", "_skipped", "_skipped_bytes")

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._held = b""
        """The beginning of an unfinished frame."""
        self._skipped = b""
        """The first bytes of those that were no frame since the last one."""
        self._skipped_bytes = 0
        """Number of those bytes."""

    @property
    def buffered(self) -> int:
        """Bytes held back: less than the longest frame, and the first of those that were no frame."""
        return len(self._held) + len(self._skipped)

    def receive(self, data: bytes) -> list[bytes | FrameRejected]:
        """Return the frames that end in these bytes, whole and in order, and what was dropped before them."""
        if self._held:
            data = self._held + data
        framing = self._framing
        by_first_byte, longest = framing.by_first_byte, framing.max_frame_bytes
        frames: list[bytes | FrameRejected] = []
        at, size = 0, len(data)
        while at < size:
            stop = at + longest
            end = NO_FRAME
            for shape in by_first_byte[data[at]]:
                end = shape.find_end(data, at, stop)
                if end != NO_FRAME:
                    break
            if end > 0:
                if self._skipped_bytes:
                    self._report_skipped(frames)
                frames.append(data[at:end])
                at = end
            elif end == NO_FRAME:
                end = self._find_start(data, at + 1)
                self._skip(data[at:end], frames)
                at = end
            elif size < stop:
                assert end == INCOMPLETE
                break
            else:
                at = self._drop_oversized(data, at, frames)
        self._held = data[at:]
        return frames

    def finish(self) -> list[bytes | FrameRejected]:
        """Return what is held back: the end of a datagram ends its last frame."""
        frames: list[bytes | FrameRejected] = []
        if self._skipped_bytes:
            self._report_skipped(frames)
        if self._held:
            frames.append(self._held)
            self._held = b""
        return frames

    def _find_start(self, data: bytes, at: int) -> int:
        """Return the first offset from `at` where a frame may begin; the end of the data if there is none."""
        framing = self._framing
        by_first_byte, longest, search = framing.by_first_byte, framing.max_frame_bytes, framing.starts.search
        while (found := search(data, at)) is not None:
            at = found.start()
            for shape in by_first_byte[data[at]]:
                if shape.find_end(data, at, at + longest) != NO_FRAME:
                    return at
            at += 1
        return len(data)

    def _skip(self, data: bytes, frames: list[bytes | FrameRejected]) -> None:
        """Drop bytes that are no frame; they are reported with the next frame, or when there are too many.

        What is reported depends on their number alone, not on how the stream was divided.
        """
        while data:
            if not self._skipped_bytes:
                data = data.lstrip(self._framing.ignored)
            taken = data[: self._framing.max_frame_bytes - self._skipped_bytes]
            data = data[len(taken) :]
            self._skipped += taken[: MAX_REJECTED_BYTES - len(self._skipped)]
            self._skipped_bytes += len(taken)
            if self._skipped_bytes >= self._framing.max_frame_bytes:
                self._report_skipped(frames)

    def _report_skipped(self, frames: list[bytes | FrameRejected]) -> None:
        frames.append(rejected(f"{self._skipped_bytes} bytes that are no frame", self._skipped))
        self._skipped = b""
        self._skipped_bytes = 0

    def _drop_oversized(self, data: bytes, at: int, frames: list[bytes | FrameRejected]) -> int:
        """Drop a frame without an end; return where the next may begin.

        That is the last mark of a beginning in what was searched, or else its end: were it the next one, a
        stream of marks would be searched again from each of them.
        """
        if self._skipped_bytes:
            self._report_skipped(frames)
        longest = self._framing.max_frame_bytes
        stop = at + longest
        marks = {shape.start for shape in self._framing.by_first_byte[data[at]]}
        resumed = -1 if b"" in marks else max(data.rfind(mark, at + 1, stop) for mark in marks)
        if resumed < 0:
            resumed = stop
        frames.append(rejected(f"more than {longest} bytes without an end", data[at:resumed]))
        return resumed
