"""The base of codecs whose stream is divided by a `Framing`: they read one whole frame at a time."""

import abc
from collections.abc import Sequence
from typing import ClassVar

from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.devices.framing import Framer, Framing, rejected
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import FrameRejected, Login, Receipt, Report

MALFORMED = (CodecError, ValueError, LookupError, ArithmeticError)
"""What reading a malformed field raises: a number that is none, a field that is not there, a date that does
not exist. The frame is rejected then."""


class FramedCodec(DeviceCodec, abc.ABC):
    """Divides the stream and reads frame by frame.

    Receipts are the bytes of the answers: `acknowledge` sends them after the commit, in their order.
    """

    framing: ClassVar[Framing]
    """How the stream is divided."""

    def __init__(self) -> None:
        self._framer = Framer(self.framing)
        self.unique_id = ""
        """Identity of the latest `Login`; empty before the first."""

    @abc.abstractmethod
    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Append the reports of a frame, which is whole, with the marks at its ends.

        Any error of `MALFORMED` rejects the rest of the frame; what was appended stays.
        """

    def receive(self, data: bytes) -> list[Report]:
        """Return the reports of all frames that are complete; no input ends the stream."""
        return self._read(self._framer.receive(data))

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram; a last frame may lack its end."""
        return self._read(self._framer.receive(data) + self._framer.finish())

    def identify(self, unique_id: str, reports: list[Report], receipt: Receipt | None = None) -> None:
        """Append a `Login` if the identity differs from the previous message's, or if the login is answered.

        An empty one stands for the device that identified itself before.

        Raises:
            CodecError: it is empty, and no device has identified itself.
        """
        unique_id = unique_id or self.unique_id
        if not unique_id:
            raise CodecError("a message before the login")
        if unique_id != self.unique_id or receipt is not None:
            if self.on_login is not None and unique_id != self.unique_id:
                self.on_login((unique_id,))
            self.unique_id = unique_id
            reports.append(Login((unique_id,), receipt))

    def acknowledge(self, receipts: Sequence[Receipt]) -> bytes:
        """Return the joined answers."""
        return b"".join(receipt for receipt in receipts if isinstance(receipt, bytes))

    def refuse(self, receipt: Receipt | None) -> bytes:
        """Return nothing: the device gets no answer, and identifies itself again with the next message."""
        self.unique_id = ""
        return b""

    @property
    def buffered(self) -> int:
        """At most `framing.max_frame_bytes` plus the first bytes of rejected data."""
        return self._framer.buffered

    def _read(self, frames: Sequence[bytes | FrameRejected]) -> list[Report]:
        reports: list[Report] = []
        for frame in frames:
            if isinstance(frame, FrameRejected):
                reports.append(frame)
                continue
            try:
                self.read_frame(frame, reports)
            except MALFORMED as error:
                reports.append(rejected(error, frame))
        return reports
