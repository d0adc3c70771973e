"""The supervision tree on one page: what stands lower leans on what stands higher.

Started from top to bottom, stopped from bottom to top; a crash restarts what it must and nothing above it.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from motorpool.actors.access.access import access_spec
from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.directory import directory_spec
from motorpool.actors.devices.position_writer import position_writer_spec
from motorpool.actors.files.uploads import UploadRoom
from motorpool.actors.gateway.connection import ConnectionLimits, DeviceConnection
from motorpool.actors.gateway.hub import Hub, hub_spec, open_hub
from motorpool.actors.gateway.listener import listener_spec
from motorpool.actors.gateway.media_connection import MediaConnection
from motorpool.actors.gateway.recorder import Tap, recorder_spec
from motorpool.actors.gateway.wire import Wire
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage
from motorpool.actors.outgoing import OutgoingServices
from motorpool.actors.outgoing.outbox import outbox_spec
from motorpool.actors.schedules.dispatcher import dispatcher_spec
from motorpool.actors.schedules.scheduled_command import scheduled_command_spec
from motorpool.actors.schedules.timetable import timetable_spec
from motorpool.actors.upkeep.retention import retention_spec
from motorpool.actors.upkeep.statistics import statistics_spec
from motorpool.actors.video.capture import capture_spec
from motorpool.actors.video.capture_retention import capture_retention_spec
from motorpool.actors.video.captures import captures_spec
from motorpool.actors.video.media_requests import media_requests_spec
from motorpool.actors.video.playback import playback_spec
from motorpool.actors.video.playback_run import PlaybackLimits
from motorpool.actors.video.segment_files import segment_files_spec
from motorpool.actors.video.snapshot import snapshot_spec
from motorpool.actors.video.stream import StreamLimits, stream_spec
from motorpool.codecs.devices import CODECS, DeviceCodec
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import (
    Actor,
    ChildSpec,
    DynamicSpec,
    Restart,
    Strategy,
    SupervisorSpec,
)
from motorpool.storage.database import Database

__all__ = ["MEDIA_PORTS", "FleetSettings", "fleet_tree", "schedule_spec"]

MEDIA_PORTS = {"live": 5263, "playback": 5363}
"""JT/T 1078, one port for each kind: the packets do not tell (docs/protocols/jt1078.md)."""
MEDIA_READ_BYTES = 64 * 1024
LIVE_PAUSE_SECONDS = 0.4
"""Between two reads of a camera: a segment has five of them, a part of a segment two."""
PLAYBACK_PAUSE_SECONDS = 0.02
"""A recording comes as fast as a terminal can send it."""
MEDIA_LOGIN_SECONDS = 10.0
"""For the first valid packet of a media connection, at most (docs/protocols/jt1078.md)."""


@dataclass(frozen=True, kw_only=True)
class FleetSettings:
    """Plain arguments of the tree; the settings of the same names say what they mean."""

    data: Path = Path("data")
    device_host: str = "0.0.0.0"  # noqa: S104 - devices come from everywhere
    public_host: str | None = None
    port_offset: int = 0
    protocols: tuple[str, ...] | None = None
    register_unknown: bool = False
    connections_per_address: int = 20_000
    idle_seconds: float = 1800.0
    login_seconds: float = 30.0
    status_timeout_seconds: float = 600.0
    alarm_attachments: bool = True
    attachment_bytes: int = 64 << 20
    segment_seconds: float = 2.0
    window_segments: int = 6
    part_seconds: float = 0.0
    autostart: bool = True
    start_seconds: float = 10.0
    linger_seconds: float = 60.0
    unrequested_media: bool = False
    playback_quota_bytes: int = 4 << 30
    reserve_bytes: int = 0
    """Of the disk, which files of devices leave free."""
    playback_linger_seconds: float = 600.0
    playback_silence_seconds: float = 12.0
    playback_return_seconds: float = 8.0
    captures_per_device: int = 8
    captures_quota_bytes: int = 0
    captures_retention_days: int = 0
    position_retention_days: int = 0
    schedule_retention_days: int = 0
    reconnect_grace_seconds: float = 60.0
    outbox_days: float = 3.0
    record: Path | None = None


def fleet_tree(
    database: Database,
    settings: FleetSettings,
    *,
    outgoing: OutgoingServices | None = None,
    services: tuple[ChildSpec[Any], ...] = (),
) -> SupervisorSpec:
    """The whole tree; `services` (HTTP) come last in and go first out. Without `outgoing` nothing leaves.

    Raises:
        ValueError: a protocol is named that there is none of.
    """
    offset = settings.port_offset
    media = MediaAddress(
        settings.public_host or "",
        MEDIA_PORTS["live"] + offset,
        MEDIA_PORTS["playback"] + offset,
        Jt808.port + offset,
    )
    hub = open_hub()
    return SupervisorSpec(
        name="system",
        strategy=Strategy.REST_FOR_ONE,
        children=(
            *((recorder_spec(settings.record),) if settings.record else ()),
            captures_spec(settings.captures_per_device),
            position_writer_spec(database),
            retention_spec(
                database,
                position_days=settings.position_retention_days,
                run_days=settings.schedule_retention_days,
            ),
            directory_spec(database),
            access_spec(database),
            statistics_spec(database),
            media_requests_spec(database),
            device_spec(
                database,
                media=media,
                media_folder=settings.data / "media",
                status_timeout_seconds=settings.status_timeout_seconds,
                asks_files=settings.alarm_attachments,
                reserve_bytes=settings.reserve_bytes,
            ),
            capture_spec(),  # above what they take from, which hands them its last cuts when it is stopped
            stream_spec(database, _stream_limits(settings)),
            snapshot_spec(),
            segment_files_spec(settings.data, settings.playback_quota_bytes, settings.reserve_bytes),
            playback_spec(database, _playback_limits(settings)),
            capture_retention_spec(
                settings.data / "media", settings.captures_quota_bytes, settings.captures_retention_days
            ),
            *((hub_spec(hub),) if hub is not None else ()),
            DynamicSpec(
                kind=CONNECTION,
                name="connections",
                factory=None,
                restart=Restart.TEMPORARY,
                mailbox_size=1_000,
                idle_seconds=None,
            ),
            SupervisorSpec(name="listeners", children=tuple(_listeners(database, settings, hub))),
            outbox_spec(database, outgoing or OutgoingServices(), settings.outbox_days),
            schedule_spec(database, reconnect_grace_seconds=settings.reconnect_grace_seconds),
            *((SupervisorSpec(name="services", children=services),) if services else ()),
        ),
    )


def schedule_spec(database: Database, *, reconnect_grace_seconds: float = 0.0) -> SupervisorSpec:
    """Scheduled commands; a crash of what stands higher makes what stands lower read its rows again."""
    return SupervisorSpec(
        name="schedule",
        strategy=Strategy.REST_FOR_ONE,
        children=(
            dispatcher_spec(database, reconnect_grace_seconds=reconnect_grace_seconds),
            scheduled_command_spec(database),
            timetable_spec(database),
        ),
    )


def _stream_limits(settings: FleetSettings) -> StreamLimits:
    return StreamLimits(
        segment_seconds=settings.segment_seconds,
        window_segments=settings.window_segments,
        part_seconds=settings.part_seconds,
        autostart=settings.autostart,
        start_seconds=settings.start_seconds,
        linger_seconds=settings.linger_seconds,
        unrequested=settings.unrequested_media,
    )


def _playback_limits(settings: FleetSettings) -> PlaybackLimits:
    return PlaybackLimits(
        segment_seconds=settings.segment_seconds,
        start_seconds=settings.start_seconds,
        linger_seconds=settings.playback_linger_seconds,
        silence_seconds=settings.playback_silence_seconds,
        return_seconds=settings.playback_return_seconds,
        unrequested=settings.unrequested_media,
    )


def _media_pause(kind: str, part_seconds: float) -> float:
    if kind == "playback":
        return PLAYBACK_PAUSE_SECONDS
    return min(LIVE_PAUSE_SECONDS, part_seconds / 2) if part_seconds else LIVE_PAUSE_SECONDS


def _device_connection(
    codec: type[DeviceCodec],
    database: Database,
    limits: ConnectionLimits,
    uploads: UploadRoom | None,
    wire: Wire,
    tap: Tap | None,
) -> Actor[ConnectionMessage]:
    return DeviceConnection(wire, codec(), database=database, limits=limits, uploads=uploads, tap=tap)


def _media_connection(
    kind: str, login_seconds: float, wire: Wire, tap: Tap | None
) -> Actor[ConnectionMessage]:
    return MediaConnection(wire, kind=kind, login_seconds=login_seconds, tap=tap)


def _listeners(database: Database, settings: FleetSettings, hub: Hub | None) -> list[ChildSpec[None]]:
    wanted = set(settings.protocols) if settings.protocols is not None else {*CODECS, "jt1078"}
    unknown = wanted - {*CODECS, "jt1078"}
    if unknown:
        raise ValueError(f"no such protocol: {', '.join(sorted(unknown))}")
    limits = ConnectionLimits(
        login_seconds=settings.login_seconds,
        idle_seconds=settings.idle_seconds,
        register_unknown=settings.register_unknown,
    )
    room = UploadRoom(settings.data / "media", settings.attachment_bytes, settings.reserve_bytes)
    uploads = room if settings.alarm_attachments else None
    specs = [
        listener_spec(
            name,
            settings.device_host,
            codec.port + settings.port_offset,
            partial(_device_connection, codec, database, limits, uploads),
            per_address=settings.connections_per_address,
            hub=hub,
            recorded=settings.record is not None,
        )
        for name, codec in sorted(CODECS.items())
        if name in wanted
    ]
    if "jt1078" in wanted:
        specs += [
            listener_spec(
                f"jt1078-{kind}",
                settings.device_host,
                port + settings.port_offset,
                partial(_media_connection, kind, min(settings.login_seconds, MEDIA_LOGIN_SECONDS)),
                per_address=settings.connections_per_address,
                recorded=settings.record is not None,
                read_bytes=MEDIA_READ_BYTES,
                pause_seconds=_media_pause(kind, settings.part_seconds),
            )
            for kind, port in MEDIA_PORTS.items()
        ]
    return specs
