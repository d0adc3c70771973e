"""A Suntech tracker of the ST300 family (docs/protocols/suntech.md)."""

from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

KMH: Final = 3.6


class SuntechTracker(Tracker):
    """Answers a command with its text."""

    protocol = "suntech"
    digits = 9

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._index = 0

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a status with the ignition on."""
        self._index = self._index % 9999 + 1
        utc = moment.astimezone(UTC)
        return (
            f"ST300STT;{self.unique_id};14;564;{utc:%Y%m%d;%H:%M:%S};2f1a;"
            f"{state.latitude:+.6f};{state.longitude:+.6f};{state.speed * KMH:07.3f};"
            f"{state.course % 360:06.2f};9;1;{int(state.odometer)};12.50;100000;2;{self._index:04}\r"
        ).encode()

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands."""
        answers = []
        for text in data.decode("ascii", "replace").split("\r"):
            prefix, _, content = text.partition(";")
            if prefix.endswith("CMD") and content:
                answers.append(f"{prefix};Res;{content}\r")
        return "".join(answers).encode()
