"""Settings of video and captures."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from motorpool.actors.files.settings import Days, Quota


@dataclass(frozen=True, kw_only=True)
class VideoSettings:
    """Live video and playback of recordings."""

    connections: Annotated[int, Meta(ge=16, extra={"unit": "connections"})] = 10_000
    """Most media connections, as far as an eighth of the limit of open files allows. The last tenth is for
    addresses with at most one."""
    connections_per_address: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 2000
    """Most media connections from one address (IPv6: one /64 network)."""
    segment_seconds: Annotated[float, Meta(ge=0.5, le=20, extra={"unit": "s"})] = 2.0
    """Target duration of an HLS segment, which ends at the next key frame."""
    window_segments: Annotated[int, Meta(ge=3, le=100, extra={"unit": "segments"})] = 6
    """Number of segments in a live playlist."""
    part_seconds: Annotated[float, Meta(ge=0, le=1, extra={"unit": "s"})] = 0.0
    """Duration of partial segments in Low-Latency HLS, 0.2 to 1; 0 disables them and adds some seconds of
    latency."""
    autostart: bool = True
    """Whether the first request for the playlist of an online device starts the stream."""
    start_seconds: Annotated[float, Meta(ge=0, le=60, extra={"unit": "s"})] = 10.0
    """The first request for a playlist waits at most this long for the first segment."""
    linger_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 60.0
    """A stream that a playlist request started is stopped this long after the last request."""
    unrequested: bool = False
    """Whether media is accepted that a device sends without a request."""
    alarm_attachments: bool = True
    """Whether the pictures, audio and video of an alarm are requested from JT/T 808 terminals."""
    attachment_bytes: Annotated[int, Meta(ge=1 << 10, extra={"unit": "bytes"})] = 64 << 20
    """Largest accepted file of an alarm."""
    playback_quota_bytes: Annotated[int, Meta(ge=1 << 20, extra={"unit": "bytes"})] = 4 << 30
    """Most disk space of all playbacks together; the oldest segments are deleted first."""
    playback_linger_seconds: Annotated[float, Meta(ge=1, le=3600, extra={"unit": "s"})] = 600.0
    """A playback is kept for this long after the last request."""
    playback_silence_seconds: Annotated[float, Meta(ge=2, le=300, extra={"unit": "s"})] = 12.0
    """A playback has ended when its device has sent nothing for this long."""
    playback_return_seconds: Annotated[float, Meta(ge=0, le=300, extra={"unit": "s"})] = 8.0
    """A playback whose connection was lost may be continued within this time."""


@dataclass(frozen=True, kw_only=True)
class CaptureSettings:
    """Captures: video that is stored as files."""

    start_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 120.0
    """A capture that receives no video or audio within this time has failed."""
    idle_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 300.0
    """A capture ends when its device has sent nothing for this long."""
    per_device: Annotated[int, Meta(ge=1, extra={"unit": "captures"})] = 8
    """Most simultaneous captures of one device."""
    quota_bytes: Quota = None
    """Most disk space of all captures together; the oldest files are deleted first. 0: unlimited;
    unset: 10737418240 (10 GiB) in a new installation, else 0."""
    retention_days: Days = None
    """Files of captures are deleted after this time. 0: never; unset: 730 in a new installation, else 0."""
