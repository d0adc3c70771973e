"""A position whose parts are read one after the other, from fields or blocks that may be missing."""

from datetime import datetime
from typing import Any

import msgspec

from motorpool.codecs.devices.network import network_of
from motorpool.codecs.reports import Heartbeat, PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates


class Draft(msgspec.Struct):
    """What has been read of a position; its fields are those of `PositionReport`."""

    attributes: dict[str, Any] = {}
    device_time: datetime | None = None
    fix_time: datetime | None = None
    located: bool = False
    valid: bool = False
    latitude: float = 0.0
    longitude: float = 0.0
    altitude: float = 0.0
    speed: float = 0.0
    """Knots."""
    course: float = 0.0
    accuracy: float = 0.0
    archived: bool = False
    towers: list[dict[str, Any] | None] = []
    points: list[dict[str, Any]] = []

    @property
    def network(self) -> dict[str, Any] | None:
        """The cells and access points, in the form of the API's `network`; None without any."""
        return network_of(self.towers, self.points) if self.towers or self.points else None

    def set_place(self, latitude: float, longitude: float) -> None:
        """Set the coordinates.

        Raises:
            CodecError: they are out of range.
        """
        self.latitude, self.longitude = checked_coordinates(latitude, longitude)
        self.located = True

    def set_motion(self, kmh: float, course: float) -> None:
        """Set speed and course; a course that is none counts as 0."""
        self.speed = kmh * KNOTS_PER_KMH
        self.course = course if 0 <= course <= 360 else 0.0

    def report(self, receipt: bytes | None = None) -> PositionReport:
        """Return the position."""
        # All fields in their order: by keyword it would take four times as long.
        return PositionReport(
            self.attributes,
            self.device_time,
            self.fix_time,
            self.located,
            self.valid,
            self.latitude,
            self.longitude,
            self.altitude,
            self.speed,
            self.course,
            self.accuracy,
            self.network,
            self.archived,
            receipt,
        )

    def report_or_heartbeat(self, receipt: bytes | None) -> PositionReport | Heartbeat:
        """Return the position, or a heartbeat where nothing was read."""
        report = self.report(receipt)
        is_empty = not report.located and not report.attributes and report.network is None
        return Heartbeat(receipt) if is_empty else report

    def report_without_place(self, receipt: bytes | None = None) -> PositionReport:
        """Return attributes, time and network alone."""
        return PositionReport(
            self.attributes,
            self.device_time,
            located=False,
            network=self.network,
            archived=self.archived,
            receipt=receipt,
        )
