"""The shapes that frames of device protocols have.

A shape finds the end of a frame from its beginning. What it decides must follow from the bytes of the frame
alone, so that it does not depend on how the stream was divided into reads.
"""

import abc
import re
from collections.abc import Callable

INCOMPLETE = 0
"""The end cannot be known yet."""
NO_FRAME = -1
"""No frame of this shape begins here."""

Accepts = Callable[[bytes], bool]


class Shape(abc.ABC):
    """How frames of one kind begin and end; holds no state, so that all connections share it.

    Frames are passed on whole, with the marks at their ends.
    """

    def __init__(self, start: bytes = b"", accepts: Accepts | None = None) -> None:
        """Take the mark at the beginning, and a check of complete frames.

        Args:
            start: the bytes with which each frame begins; empty: any.
            accepts: whether a complete frame is one; for shapes that other bytes may resemble. Where it
                returns False the stream is resumed at the next byte.
        """
        self.start = start
        self._accepts = accepts

    def find_end(self, data: bytes, start: int, stop: int) -> int:
        """Return the offset after the frame that begins at `start`, `INCOMPLETE` or `NO_FRAME`.

        No frame reaches beyond `stop`, which may lie beyond the end of the data.
        """
        mark = self.start
        if mark and not data.startswith(mark, start):
            return INCOMPLETE if mark.startswith(data[start : start + len(mark)]) else NO_FRAME
        end = self._find_end(data, start, stop)
        if end > 0 and self._accepts is not None and not self._accepts(data[start:end]):
            return NO_FRAME
        return end

    @abc.abstractmethod
    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        """Find the end of a frame whose mark at the beginning is there."""


class Line(Shape):
    r"""Text up to one of several ends: `Line(b"\n")`, `Line(b"\r")`, `Line(b";", b"*", b"\n")`."""

    def __init__(self, *ends: bytes, start: bytes = b"") -> None:
        r"""Take the bytes that end a frame; `\r\n` needs only `\n`, since decoders strip lines."""
        super().__init__(start)
        self._end = ends[0] if len(ends) == 1 else b""
        self._pattern = re.compile(b"|".join(map(re.escape, ends)))

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        begin = start + len(self.start)
        if self._end:
            return _find(self._end, data, begin, stop)
        found = self._pattern.search(data, begin, stop)
        return found.end() if found is not None else INCOMPLETE


class Marked(Shape):
    """From one mark to another that may stand in quoted text: `(…$text)$…)`."""

    def __init__(self, start: bytes, end: bytes, *, quote: bytes, header: bytes = b"") -> None:
        """Take the marks; `end` and `quote` have one byte, and `end` stands for itself between quotes.

        Args:
            start: the mark at the beginning; empty: any.
            end: the mark at the end.
            quote: the mark around texts.
            header: a regular expression of what stands at the beginning of a frame alone, without the other
                marks: a frame without its end goes up to there. Empty: such a frame has no end.
        """
        super().__init__(start)
        self._quote = quote
        marks = re.escape(end) + b"|" + re.escape(quote)
        self._marks = re.compile(b"(" + header + b")|" + marks if header else b"()(?!)|" + marks, re.DOTALL)

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        at = start + len(self.start)
        is_quoted = False
        while found := self._marks.search(data, at, stop):
            if found[1]:
                return found.start()
            at, mark = found.end(), found[0]
            if mark == self._quote:
                is_quoted = not is_quoted
            elif not is_quoted:
                return at
        return INCOMPLETE


class Nested(Shape):
    """From an opening to its closing mark, counting those in between: `[3G*…[…]…]`."""

    def __init__(self, start: bytes, end: bytes, *, header: bytes = b"") -> None:
        """Take two marks of one byte.

        Args:
            start: the opening mark.
            end: the closing mark.
            header: a regular expression of what begins with the opening mark and stands at the beginning of a
                frame alone, without marks of the end: a frame without its end goes up to there. Empty: such a
                frame has no end.
        """
        super().__init__(start)
        marks = re.escape(start) + b"|" + re.escape(end)
        self._marks = re.compile(b"(" + header + b")|" + marks if header else b"()(?!)|" + marks, re.DOTALL)

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        depth = 0
        for found in self._marks.finditer(data, start, stop):
            if found[1] and found.start() > start:
                return found.start()
            depth += -1 if not found[1] and found[0] != self.start else 1
            if not depth:
                return found.end()
        return INCOMPLETE


class Fixed(Shape):
    """A fixed number of bytes."""

    def __init__(self, start: bytes, size: int, *, accepts: Accepts | None = None) -> None:
        """Take the size of the whole frame, and `accepts` as of `Shape`."""
        super().__init__(start, accepts)
        self._size = size

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        return _known(start + self._size, data, stop)


class Measured(Shape):
    """A length that a function of the codec reads from the first bytes."""

    def __init__(
        self,
        start: bytes,
        header_bytes: int,
        measure: Callable[[bytes], int],
        *,
        end: bytes = b"",
        is_whole: Accepts | None = None,
        accepts: Accepts | None = None,
    ) -> None:
        """Take the function.

        Args:
            start: the mark at the beginning; empty: any.
            header_bytes: how many bytes the function needs.
            measure: returns the size of the whole frame; less than `header_bytes`, and not 0: no frame. 0:
                the frame goes to the first `end`.
            end: what the frame ends with. Where something else stands there the length is wrong, and the
                frame goes to the first `end` after the header instead. Empty: not checked.
            is_whole: whether bytes that end with `end` are a frame, by their check value, although the length
                says that more belong to it; else the next frame tells. Default: they are none.
            accepts: as of `Shape`.
        """
        super().__init__(start, accepts)
        self._header_bytes = header_bytes
        self._measure = measure
        self._end = end
        self._is_whole = is_whole

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        content = start + self._header_bytes
        if content > len(data):
            return INCOMPLETE
        size = self._measure(data[start:content])
        if size < self._header_bytes and (size or not self._end):
            return NO_FRAME
        if size:
            end = _known(start + size, data, stop)
            if end > 0 and data.endswith(self._end, content, end):
                return end
            if end <= 0:
                if self._is_whole is None or not data.endswith(self._end, content):
                    return end
                return len(data) if self._is_whole(data[start:]) else end
        return _find(self._end, data, content, stop)


def length_field(
    start: bytes = b"",
    *,
    offset: int,
    size: int,
    adjustment: int = 0,
    end: bytes = b"",
    is_whole: Accepts | None = None,
    accepts: Accepts | None = None,
) -> Measured:
    """Return the shape of frames with their length as a binary number, big-endian.

    `length_field(offset=0, size=2, adjustment=2)` is a length of two bytes that counts neither itself nor the
    two bytes of a check value.

    Args:
        start: the mark at the beginning; empty: any.
        offset: of the length field, from the beginning of the frame.
        size: bytes of the length field.
        adjustment: what the length does not count of the bytes after it, such as a check value and the end;
            negative where it counts bytes before its own end.
        end: as of `Measured`.
        is_whole: as of `Measured`.
        accepts: as of `Shape`.
    """
    fixed = offset + size + adjustment

    def measure(header: bytes) -> int:
        return int.from_bytes(header[offset : offset + size], "big") + fixed

    return Measured(start, offset + size, measure, end=end, is_whole=is_whole, accepts=accepts)


class TextLength(Shape):
    """A length in digits up to a separator, counting from the separator: `$$A123,…`."""

    def __init__(
        self,
        start: bytes,
        *,
        offset: int,
        until: bytes,
        end: bytes,
        end_pattern: re.Pattern[bytes] | None = None,
    ) -> None:
        """Take where the digits are.

        Args:
            start: the mark at the beginning.
            offset: of the first digit, from the beginning of the frame.
            until: the byte after the digits, which the length counts; at most 8 digits stand before it.
            end: what the frame ends with. Where something else stands there the length is wrong, and the
                frame goes to the first `end` instead.
            end_pattern: what is found in place of `end` then, where the content may contain that.
        """
        super().__init__(start)
        self._offset, self._until, self._end = offset, until, end
        self._end_pattern = end_pattern or re.compile(re.escape(end))

    def _find_end(self, data: bytes, start: int, stop: int) -> int:
        digits = start + self._offset
        at = data.find(self._until, digits, digits + 9)
        if at < 0:
            return INCOMPLETE if len(data) < digits + 9 else NO_FRAME
        try:
            end = at + int(data[digits:at])
        except ValueError:
            return NO_FRAME
        end = _known(end, data, stop) if end > at else NO_FRAME
        if end <= 0 or data.endswith(self._end, at, end):
            return end
        found = self._end_pattern.search(data, at, stop)
        return found.end() if found is not None else INCOMPLETE


def _known(end: int, data: bytes, stop: int) -> int:
    """Return an end that was calculated, or why it is not one."""
    if end > stop:
        return NO_FRAME
    return end if end <= len(data) else INCOMPLETE


def _find(mark: bytes, data: bytes, start: int, stop: int) -> int:
    """Return the offset after the next mark, or `INCOMPLETE`."""
    at = data.find(mark, start, stop)
    return at + len(mark) if at >= 0 else INCOMPLETE
