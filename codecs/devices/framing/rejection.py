"""The report of bytes that were dropped."""

from motorpool.codecs.reports import FrameRejected

MAX_REJECTED_BYTES = 256
"""Bytes of a dropped frame that are kept for the log."""


def rejected(error: str, frame: bytes) -> FrameRejected:
    """Return the report of a dropped frame, with its first `MAX_REJECTED_BYTES`."""
    return FrameRejected(error, frame[:MAX_REJECTED_BYTES])
