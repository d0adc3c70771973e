"""The report of bytes that were dropped."""

from motorpool.codecs.reports import FrameRejected

MAX_REJECTED_BYTES = 256
"""Bytes of a dropped frame that are kept for the log."""


def rejected(error: str | Exception, frame: bytes) -> FrameRejected:
    """Return the report of a dropped frame, with its first `MAX_REJECTED_BYTES`."""
    return FrameRejected(str(error) or type(error).__name__, frame[:MAX_REJECTED_BYTES])
