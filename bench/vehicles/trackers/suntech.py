"""Suntech trackers: the ST300 family, and others by model (docs/protocols/suntech.md)."""

from datetime import UTC, datetime
from typing import Final

from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers.tracker import Tracker

KMH: Final = 3.6


class SuntechTracker(Tracker):
    """Answers a command with its text."""

    protocol = "suntech"
    digits = 9
    models = ("ST4300", "ST600", "ST910")

    def __init__(self, unique_id: str) -> None:
        super().__init__(unique_id)
        self._index = 0

    def position(self, moment: datetime, state: VehicleState) -> bytes:
        """Return a status with the ignition on; that of an ST910 has none."""
        self._index = self._index % 9999 + 1
        time = f"{moment.astimezone(UTC):%Y%m%d;%H:%M:%S}"
        motion = f"{state.speed * KMH:07.3f};{state.course % 360:06.2f}"
        place = f"{state.latitude:+.6f};{state.longitude:+.6f};{motion}"
        states = f"9;1;{int(state.odometer)};12.50;100000;2;{self._index:04}"
        match self.model:
            case "ST910":
                text = f"ST910;Location;{self.unique_id};564;{time};{place};1"
            case "ST600":
                cell = "00001FB8;460;0;287D;24"
                text = f"ST600STT;{self.unique_id};20;564;{time};{cell};{place};{states};60;4.1;1"
            case "ST4300":
                cell = "00001FB8;460;00;287D;24"
                text = (
                    f"STT;{self.unique_id};3FFFFF;95;1.0.15;1;{time};{cell};{place};9;1;1;0;0;1;{self._index}"
                )
            case _:
                text = f"ST300STT;{self.unique_id};14;564;{time};2f1a;{place};{states}"
        return f"{text}\r".encode()

    def receive(self, data: bytes) -> bytes:
        """Return the answers to commands."""
        answers = []
        for text in data.decode("ascii", "replace").split("\r"):
            prefix, _, content = text.partition(";")
            if prefix == "CMD":
                answers.append(f"RES;{content}\r")
            elif prefix.endswith("CMD") and content:
                answers.append(f"{prefix};Res;{content}\r")
        return "".join(answers).encode()
