"""The supervision tree on one page: what stands lower leans on what stands higher.

Started from top to bottom, stopped from bottom to top; a crash restarts what it must and nothing above it.
"""

from functools import partial
from typing import Any

from motorpool.actors.access.access import access_spec
from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.directory import directory_spec
from motorpool.actors.devices.position_writer import position_writer_spec
from motorpool.actors.files.media_files import media_folder
from motorpool.actors.files.uploads import UploadRoom
from motorpool.actors.gateway.device_connection import DeviceConnection
from motorpool.actors.gateway.device_socket import DeviceSocket
from motorpool.actors.gateway.hub import Hub, hub_spec, open_hub
from motorpool.actors.gateway.listener import listener_spec
from motorpool.actors.gateway.media_connection import MediaConnection
from motorpool.actors.gateway.recorder import Tap, recorder_spec
from motorpool.actors.messages.downlink import CONNECTION, ConnectionMessage
from motorpool.actors.outgoing import OutgoingServices
from motorpool.actors.outgoing.outbox import outbox_spec
from motorpool.actors.schedules.dispatcher import dispatcher_spec
from motorpool.actors.schedules.timetable import timetable_spec
from motorpool.actors.settings import DeviceSettings, FleetSettings
from motorpool.actors.upkeep.retention import retention_spec
from motorpool.actors.upkeep.statistics import statistics_spec
from motorpool.actors.video.capture import capture_spec
from motorpool.actors.video.capture_list import capture_list_spec
from motorpool.actors.video.capture_retention import capture_retention_spec
from motorpool.actors.video.media_requests import media_requests_spec
from motorpool.actors.video.playback import playback_spec
from motorpool.actors.video.segment_store import segment_store_spec
from motorpool.actors.video.snapshot import snapshot_spec
from motorpool.actors.video.stream import stream_spec
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

__all__ = ["MEDIA_PORTS", "fleet_tree", "schedule_spec"]

MEDIA_PORTS = {"live": 5263, "playback": 5363}
"""JT/T 1078, one port for each kind: the packets do not tell (docs/protocols/jt1078.md#media-connections)."""
MEDIA_READ_BYTES = 64 * 1024
LIVE_PAUSE_SECONDS = 0.4
"""Between two reads of a camera: a segment has five of them, a part of a segment two."""
PLAYBACK_PAUSE_SECONDS = 0.02
"""A recording comes as fast as a terminal can send it."""
MEDIA_LOGIN_SECONDS = 10.0
"""For the first valid packet of a media connection, at most (docs/protocols/jt1078.md#media-connections)."""


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
    offset = settings.port.offset
    media = MediaAddress(
        settings.public.host or "",
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
            capture_list_spec(settings.captures.per_device),
            position_writer_spec(database),
            retention_spec(
                database,
                position_days=settings.positions.retention_days,
                run_days=settings.schedules.retention_days,
            ),
            directory_spec(database),
            access_spec(database),
            statistics_spec(database),
            media_requests_spec(database),
            device_spec(
                database,
                media=media,
                media_folder=media_folder(settings.data),
                status_timeout_seconds=settings.device.status_seconds,
                requests_alarm_files=settings.video.alarm_attachments,
                reserve_bytes=settings.files.reserve_bytes,
            ),
            # Above what they subscribe to, which sends them its last fragments when it stops.
            capture_spec(
                database,
                media_folder(settings.data),
                settings.captures,
                reserve_bytes=settings.files.reserve_bytes,
            ),
            stream_spec(database, settings.video),
            snapshot_spec(),
            segment_store_spec(
                settings.data, settings.video.playback_quota_bytes, settings.files.reserve_bytes
            ),
            playback_spec(database, settings.video),
            capture_retention_spec(
                media_folder(settings.data), settings.captures.quota_bytes, settings.captures.retention_days
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
            outbox_spec(database, outgoing or OutgoingServices(), settings.outbox.give_up_days),
            schedule_spec(database, reconnect_grace_seconds=settings.schedules.reconnect_grace_seconds),
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
            timetable_spec(database),
        ),
    )


def _media_pause(kind: str, part_seconds: float) -> float:
    if kind == "playback":
        return PLAYBACK_PAUSE_SECONDS
    return min(LIVE_PAUSE_SECONDS, part_seconds / 2) if part_seconds else LIVE_PAUSE_SECONDS


def _device_connection(
    codec: type[DeviceCodec],
    database: Database,
    settings: DeviceSettings,
    register_unknown: bool,
    uploads: UploadRoom | None,
    device_socket: DeviceSocket,
    tap: Tap | None,
) -> Actor[ConnectionMessage]:
    return DeviceConnection(
        device_socket,
        codec(),
        database=database,
        settings=settings,
        register_unknown=register_unknown,
        uploads=uploads,
        tap=tap,
    )


def _media_connection(
    kind: str, login_seconds: float, device_socket: DeviceSocket, tap: Tap | None
) -> Actor[ConnectionMessage]:
    return MediaConnection(device_socket, kind=kind, login_seconds=login_seconds, tap=tap)


def _listeners(database: Database, settings: FleetSettings, hub: Hub | None) -> list[ChildSpec[None]]:
    wanted = set(settings.protocols) if settings.protocols is not None else {*CODECS, "jt1078"}
    unknown = wanted - {*CODECS, "jt1078"}
    if unknown:
        raise ValueError(f"no such protocol: {', '.join(sorted(unknown))}")
    room = UploadRoom(
        media_folder(settings.data), settings.video.attachment_bytes, settings.files.reserve_bytes
    )
    uploads = room if settings.video.alarm_attachments else None
    specs = [
        listener_spec(
            name,
            settings.device.host,
            codec.port + settings.port.offset,
            partial(_device_connection, codec, database, settings.device, settings.register.unknown, uploads),
            per_address=settings.device.connections_per_address,
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
                settings.device.host,
                port + settings.port.offset,
                partial(_media_connection, kind, min(settings.device.login_seconds, MEDIA_LOGIN_SECONDS)),
                per_address=settings.device.connections_per_address,
                recorded=settings.record is not None,
                read_bytes=MEDIA_READ_BYTES,
                pause_seconds=_media_pause(kind, settings.video.part_seconds),
            )
            for kind, port in MEDIA_PORTS.items()
        ]
    return specs
