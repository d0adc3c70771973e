"""A stream of a simulated camera: the loop of units over and over, each at its time."""

import socket
import time

from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoRequest
from motorpool.bench.vehicles.media_loop import LOOP_MS, LOOP_SECONDS, LoopUnit
from motorpool.codecs.media.jt1078.sender import Jt1078Sender

TIMEOUT_SECONDS = 30.0


class CameraStream:
    """One media connection, and its place in the loop."""

    def __init__(self, phone: str, order: LiveVideoRequest, units: list[LoopUnit]) -> None:
        """Connect to where the server asks for. Raises OSError."""
        self.connection = socket.create_connection((order.host, order.tcp_port), TIMEOUT_SECONDS)
        self.connection.setblocking(False)
        self.backlog = bytearray()
        self.frames = 0
        self._channel = order.channel
        self._sender = Jt1078Sender(phone)
        self._units = units
        self._begun = time.perf_counter()
        self._begun_ms = round(time.time() * 1000)
        self._place = 0
        self._turn = 0

    def due(self) -> float:
        """When the next unit goes out (`time.perf_counter`)."""
        return self._begun + self._turn * LOOP_SECONDS + self._units[self._place].milliseconds / 1000

    def next_unit(self) -> bytes:
        """Encode the next unit's packets."""
        loop_unit = self._units[self._place]
        unit = loop_unit.access_unit(self._channel, self._begun_ms + self._turn * LOOP_MS, self.frames)
        self.frames += loop_unit.is_video
        self._place += 1
        if self._place == len(self._units):
            self._place, self._turn = 0, self._turn + 1
        return self._sender.encode(unit)
