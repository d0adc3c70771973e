"""The interface of a simulated tracker of any protocol: the bytes that it sends and answers."""

import abc
from datetime import datetime
from typing import ClassVar

from motorpool.bench.vehicles.route import VehicleState


class Tracker(abc.ABC):
    """The device's end of one connection; no socket and no clock."""

    protocol: ClassVar[str]
    """The name of the codec that reads it."""
    digits: ClassVar[int] = 15
    """Digits of a unique id. Default: an IMEI."""
    is_acknowledged: ClassVar[bool] = False
    """Whether the server answers each position once it is stored. Default: false."""

    models: ClassVar[tuple[str, ...]] = ()
    """Models, as devices have them, whose ways of the protocol it has too. Default: none."""

    def __init__(self, unique_id: str) -> None:
        self.unique_id = unique_id
        self.model = ""
        """One of `models`; empty: what most trackers of the protocol send. Set before the first message."""

    def login(self) -> bytes:
        """Return what is sent first; the server's answer is waited for where it is not empty. Default:
        nothing.
        """
        return b""

    def heartbeat(self) -> bytes:
        """Return a message without a position; default: nothing."""
        return b""

    @abc.abstractmethod
    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a message with the position at this moment, an aware datetime; with the ignition on, and a
        fix.
        """

    def datagram(self, message: bytes) -> bytes:
        """Return a message as it is sent over UDP, empty if it is not; default: as over TCP."""
        return message

    def receive(self, data: bytes) -> bytes:
        """Return the answers to what the server sent, commands among them; default: nothing."""
        return b""


def minutes_of(value: float, digits: int) -> str:
    """Return degrees as `ddmm.mmmm` without sign; `digits` is the number of digits for the degrees."""
    whole, minutes = divmod(round(abs(value) * 600_000), 600_000)
    return f"{whole:0{digits}}{minutes // 10_000:02}.{minutes % 10_000:04}"
