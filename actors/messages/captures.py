"""Messages of captures."""

import msgspec

from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded, StreamReplaced
from motorpool.runtime import Kind, Request


class EndCapture(msgspec.Struct, Request[None], frozen=True, gc=False):
    """End the capture and keep what came; answered when it has ended."""

    reason: str


class CheckDeadlines(msgspec.Struct, frozen=True, gc=False):
    """The capture's own timer: look whether it is to end, or to subscribe again."""


class TakeOver(msgspec.Struct, frozen=True, gc=False):
    """The capture's own: go on with what another server has offered."""


CaptureMessage = FragmentsReady | StreamEnded | StreamReplaced | EndCapture | CheckDeadlines | TakeOver
CAPTURE: Kind[str, CaptureMessage] = Kind("capture")
"""By id."""
