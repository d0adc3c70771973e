"""The settings of the fleet: the sections of motorpool.toml that actors use, each written once.

The docstring of a field is the sentence that `motorpool settings` prints; `Meta` holds the bounds and, in
`extra`, the unit and further checks (`motorpool/api/program/configuration.py`).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from motorpool.storage.settings import DatabaseSettings

__all__ = [
    "CaptureSettings",
    "DeviceSettings",
    "FileSettings",
    "FleetSettings",
    "OutboxSettings",
    "PortSettings",
    "PositionSettings",
    "PublicSettings",
    "RegisterSettings",
    "ScheduleSettings",
    "VideoSettings",
]


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """Ports and patience towards devices."""

    host: str = "0.0.0.0"  # noqa: S104 - devices come from outside
    """Address of the device ports."""
    connections_per_address: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 20000
    """Connections that one address may hold on a device port."""
    idle_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 1800.0
    """A device connection without a message is closed after this."""
    login_seconds: Annotated[float, Meta(ge=0.1, extra={"unit": "s"})] = 30.0
    """A new device connection must identify itself within this."""
    status_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 600.0
    """A device without a message becomes `unknown` after this."""


@dataclass(frozen=True, kw_only=True)
class PublicSettings:
    """How the outside reaches this server."""

    host: str | None = None
    """Host that devices are told to send media to; unset: the address they reached us at."""
    url: Annotated[str | None, Meta(extra={"form": "url"})] = None
    """Address of the console as users type it: `https://fleet.example.org`. Links in mails and the OpenID
    provider lead there."""


@dataclass(frozen=True, kw_only=True)
class PortSettings:
    """Where the device ports stand."""

    offset: Annotated[int, Meta(ge=0, le=50000)] = 0
    """Added to every device port, so that two servers can share a machine."""


@dataclass(frozen=True, kw_only=True)
class RegisterSettings:
    """Devices that nobody entered."""

    unknown: bool = False
    """Registers a device that is not known when it first reports, as the oldest administrator's."""


@dataclass(frozen=True, kw_only=True)
class OutboxSettings:
    """Mails and text messages that wait to go out."""

    give_up_days: Annotated[float, Meta(ge=0.01, le=30, extra={"unit": "days"})] = 3.0
    """What could not be sent for so long is given up."""


@dataclass(frozen=True, kw_only=True)
class VideoSettings:
    """Live video and playback of recordings."""

    segment_seconds: Annotated[float, Meta(ge=0.5, le=20, extra={"unit": "s"})] = 2.0
    """Target length of an HLS segment; cut at the next key frame."""
    window_segments: Annotated[int, Meta(ge=3, le=100, extra={"unit": "segments"})] = 6
    """Segments in a live playlist."""
    part_seconds: Annotated[float, Meta(ge=0, le=1, extra={"unit": "s"})] = 0.0
    """Length of the parts of segments in Low-Latency HLS, 0.2 to 1; 0: no parts, viewers are some seconds
    behind."""
    autostart: bool = True
    """The first reader of an online device's playlist starts the stream."""
    start_seconds: Annotated[float, Meta(ge=0, le=60, extra={"unit": "s"})] = 10.0
    """The first reader waits at most this long for the first segment."""
    linger_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 60.0
    """What a reader started is stopped so long after the last read."""
    unrequested: bool = False
    """Accepts media that a device sends without being asked."""
    alarm_attachments: bool = True
    """Asks JT/T 808 terminals for the pictures, sounds and films that they keep of an alarm."""
    attachment_bytes: Annotated[int, Meta(ge=1 << 10, extra={"unit": "bytes"})] = 64 << 20
    """A file of an alarm that is larger than this is refused."""
    playback_quota_bytes: Annotated[int, Meta(ge=1 << 20, extra={"unit": "bytes"})] = 4 << 30
    """All playbacks together keep so much on disk; the oldest go first."""
    playback_linger_seconds: Annotated[float, Meta(ge=1, le=3600, extra={"unit": "s"})] = 600.0
    """A playback is kept so long after the last read."""
    playback_silence_seconds: Annotated[float, Meta(ge=2, le=300, extra={"unit": "s"})] = 12.0
    """A device that sends nothing for so long has ended its playback."""
    playback_return_seconds: Annotated[float, Meta(ge=0, le=300, extra={"unit": "s"})] = 8.0
    """A playback whose connection dropped may go on within this time."""


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    """Files of devices: captures, playbacks, pictures."""

    reserve_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 512 << 20
    """So much of the disk is left to the database."""


@dataclass(frozen=True, kw_only=True)
class CaptureSettings:
    """Video that is kept as files."""

    start_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 120.0
    """A capture that no picture or sound reaches within this has failed."""
    idle_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 300.0
    """A capture ends when its device sent nothing for so long."""
    per_device: Annotated[int, Meta(ge=1, extra={"unit": "captures"})] = 8
    """Captures of one device that may be open at once."""
    quota_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 0
    """All files of captures together take at most this; the oldest go first. 0 is no quota."""
    retention_days: Annotated[int, Meta(ge=0, extra={"unit": "days"})] = 0
    """Files of captures are removed after this; 0 keeps all."""


@dataclass(frozen=True, kw_only=True)
class PositionSettings:
    """The history."""

    retention_days: Annotated[int, Meta(ge=0, extra={"unit": "days"})] = 0
    """Older positions are deleted; 0 keeps all."""
    most: Annotated[int, Meta(ge=0, extra={"unit": "positions"})] = 0
    """GET /positions refuses spans with more positions; 0 is no cap."""


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """Commands that go out on a calendar."""

    retention_days: Annotated[int, Meta(ge=0, extra={"unit": "days"})] = 90
    """Runs of scheduled commands are kept so long; 0 keeps all."""
    reconnect_grace_seconds: Annotated[float, Meta(ge=0.0, extra={"unit": "s"})] = 60.0
    """After a start devices have so long to come back before a step counts them as offline."""


@dataclass(frozen=True, kw_only=True)
class FleetSettings:
    """What the supervision tree is built from: sections of the settings, and three values of their own."""

    data: Path = DatabaseSettings.data
    """Folder of captures, playbacks and uploads."""
    protocols: tuple[str, ...] | None = None
    """Protocols to listen for; None: all."""
    record: Path | None = None
    """Folder into which the traffic of devices is recorded; None: nothing is recorded."""
    device: DeviceSettings = field(default_factory=DeviceSettings)
    public: PublicSettings = field(default_factory=PublicSettings)
    port: PortSettings = field(default_factory=PortSettings)
    register: RegisterSettings = field(default_factory=RegisterSettings)
    outbox: OutboxSettings = field(default_factory=OutboxSettings)
    video: VideoSettings = field(default_factory=VideoSettings)
    files: FileSettings = field(default_factory=FileSettings)
    captures: CaptureSettings = field(default_factory=CaptureSettings)
    positions: PositionSettings = field(default_factory=PositionSettings)
    schedules: ScheduleSettings = field(default_factory=ScheduleSettings)
