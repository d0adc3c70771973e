"""Settings of the fleet: the sections of motorpool.toml that actors use.

`motorpool settings` prints the docstring of each field, its unit and its default. `Meta` holds the bounds
and, in `extra`, the unit and further checks (`motorpool/api/program/configuration.py`).

The file is longer than others because it is a plain list of settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.settings import DatabaseSettings

Days = Annotated[int | None, Meta(ge=0, extra={"unit": "days"})]
"""A retention; None where the default depends on the installation (`RETENTION_DEFAULTS`)."""
Quota = Annotated[int | None, Meta(ge=0, extra={"unit": "bytes"})]
"""A quota; None as for `Days`."""


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """The device ports and the timeouts of device connections."""

    host: str = "0.0.0.0"  # noqa: S104 - devices come from outside
    """Address that the device ports listen on."""
    connections: Annotated[int, Meta(ge=16, extra={"unit": "connections"})] = 100_000
    """Most connections to all device ports, as far as five eighths of the limit of open files allow. The
    last tenth is for addresses with at most one. As many addresses again may send datagrams."""
    connections_per_address: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 20000
    """Most connections from one address (IPv6: one /64 network) to all device ports, and most of its ports
    that may send datagrams."""
    proxy_protocol: bool = False
    """Whether connections from `trusted_proxies` begin with a PROXY header, version 1 or 2, whose address
    counts as the device's; other connections and datagrams have none."""
    trusted_proxies: Annotated[tuple[str, ...], Meta(extra={"form": "networks"})] = ()
    """Networks of the TCP proxies in front of the device ports and media ports; with `proxy_protocol`."""
    idle_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 1800.0
    """A device connection without a message is closed after this time."""
    login_seconds: Annotated[float, Meta(ge=0.1, extra={"unit": "s"})] = 30.0
    """A new device connection must identify its device within this time."""
    status_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 600.0
    """The status of a device without a message becomes `unknown` after this time."""
    strict_checksums: bool = False
    """Whether frames with a wrong check value are dropped also where their protocol has devices that
    calculate it wrongly; such frames are decoded and counted otherwise."""
    keep_unknown_messages: bool = False
    """Whether a message that the codec does not know is stored as a position with the attribute `raw`, in
    hexadecimal digits; at most 1,024 bytes of it. Items of JT/T 808 locations that are not known become
    attributes such as `item0xE3`, with at most 32 bytes each."""
    protocol_attributes: Annotated[tuple[str, ...], Meta(extra={"form": "protocolAttributes"})] = ()
    """Attributes of protocols for all devices, as `key=value` separated by commas, such as `h02.ack=true`;
    those of the server, a group or a device precede them."""


@dataclass(frozen=True, kw_only=True)
class PublicSettings:
    """The addresses under which devices and users reach this server."""

    host: str | None = None
    """Host that devices are instructed to send media to; unset: the address that they connected to."""
    port_offset: Annotated[int | None, Meta(ge=0, le=50000)] = None
    """Number added to every device port in what users are told to set their devices to, where a proxy has
    other ports than this server; unset: that of `port.offset`."""
    url: Annotated[str | None, Meta(extra={"form": "url"})] = None
    """Public URL of the console, such as `https://fleet.example.org`, used by links in mails and by the
    OpenID provider; unset: derived from the address that the server listens on."""


@dataclass(frozen=True, kw_only=True)
class PortSettings:
    """The numbers of the device ports."""

    offset: Annotated[int, Meta(ge=0, le=50000)] = 0
    """Number added to every device port, so that several servers can run on one machine."""


@dataclass(frozen=True, kw_only=True)
class RegisterSettings:
    """Registration of unknown devices."""

    unknown: bool = False
    """Whether an unknown device is registered when it first reports, linked to the oldest administrator."""
    max_devices: Annotated[int, Meta(ge=1, le=10_000_000)] = 100_000
    """No unknown device is registered while there are this many devices in all."""


@dataclass(frozen=True, kw_only=True)
class OutboxSettings:
    """The queue of outgoing mails and text messages."""

    give_up_days: Annotated[float, Meta(ge=0.01, le=30, extra={"unit": "days"})] = 3.0
    """A message that could not be sent within this time is discarded."""


@dataclass(frozen=True, kw_only=True)
class NotificationSettings:
    """Notifications of events."""

    max_age_seconds: Annotated[float, Meta(ge=0, le=30 * 86400, extra={"unit": "s"})] = 900.0
    """Nobody is notified of an event that was older than this when it was stored, such as one of a position
    from a device's buffer."""


@dataclass(frozen=True, kw_only=True)
class ExpirationSettings:
    """Mails about the expiration of users and devices."""

    users: bool = False
    """A user whose account has expired gets a mail."""
    devices: bool = False
    """Users who see a device that has expired get a mail."""
    reminder_days: Annotated[float, Meta(ge=0, le=365, extra={"unit": "days"})] = 0.0
    """So long before an expiration the same users get a reminder; 0: none."""


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
class FileSettings:
    """Files of devices: captures, playbacks and pictures."""

    reserve_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 512 << 20
    """Disk space that files leave free for the database."""
    quota_bytes: Quota = None
    """Most disk space of photos and files of alarms together; the oldest are deleted first. 0: unlimited;
    unset: 10737418240 (10 GiB) in a new installation, 0 in a database made before there was this default."""
    device_quota_bytes: Quota = None
    """Most disk space of the photos and files of alarms of one device; the oldest are deleted first.
    0: unlimited; unset: 1073741824 (1 GiB) in a new installation, else 0."""
    retention_days: Days = None
    """Photos and files of alarms are deleted after this time. 0: never; unset: 730 in a new installation,
    else 0."""


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


@dataclass(frozen=True, kw_only=True)
class PositionSettings:
    """The history of positions."""

    retention_days: Days = None
    """Positions are deleted this long after they were received, except the latest of each device.
    0: never; unset: 730 in a new installation, 0 in a database made before there was this default."""
    most: Annotated[int, Meta(ge=0, extra={"unit": "positions"})] = 0
    """GET /positions rejects requests that select more positions; 0: no limit."""


@dataclass(frozen=True, kw_only=True)
class EventSettings:
    """The history of events."""

    retention_days: Days = None
    """Events are deleted after this time. 0: never; unset: 730 in a new installation, else 0."""


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """The audit log."""

    retention_days: Days = None
    """Rows of the audit log are deleted after this time. 0: never; unset: 730 in a new installation,
    else 0."""


@dataclass(frozen=True, kw_only=True)
class StatisticsSettings:
    """The statistics of the server, a row for each day."""

    retention_days: Days = None
    """Statistics are deleted after this time. 0: never; unset: 730 in a new installation, else 0."""


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """Scheduled commands."""

    retention_days: Annotated[int, Meta(ge=0, extra={"unit": "days"})] = 90
    """Runs of scheduled commands are deleted after this time; 0: never."""
    reconnect_grace_seconds: Annotated[float, Meta(ge=0.0, extra={"unit": "s"})] = 60.0
    """After startup, devices that were connected when the server stopped have this long to reconnect before a
    step treats them as offline."""


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """Reports."""

    period_limit: Annotated[float, Meta(ge=0, extra={"unit": "s"})] = 0.0
    """Longest span of a report, except of the route; 0: any."""
    most_rows: Annotated[int, Meta(ge=0, extra={"unit": "rows"})] = 2_000_000
    """Most rows of a workbook; 0: no limit."""
    workbooks_per_user: Annotated[int, Meta(ge=1, extra={"unit": "workbooks"})] = 2
    """Workbooks that are made for one user at the same time; further requests get 429."""
    mail_bytes: Annotated[int, Meta(ge=1 << 10, le=50 << 20, extra={"unit": "bytes"})] = 10 << 20
    """Largest workbook that is mailed."""
    mails_per_hour: Annotated[int, Meta(ge=0, extra={"unit": "mails"})] = 30
    """Reports that one user may have mailed within an hour; further requests get 429."""


@dataclass(frozen=True, kw_only=True)
class TicketSettings:
    """Tickets of the helpdesk."""

    horizon_days: Annotated[int, Meta(ge=1, le=3660, extra={"unit": "days"})] = 1830
    """How far ahead of the present a due time is searched for in the business hours of a calendar; a ticket
    whose due time is not found has none, and is tried again once a day and when the calendar changes."""
    companies_per_user: Annotated[int, Meta(ge=0, extra={"unit": "companies"})] = 100
    """Companies that a user may have created; administrators may create more."""
    created_per_hour: Annotated[int, Meta(ge=0, extra={"unit": "tickets"})] = 20_000
    """Tickets that requests may create in a company within an hour; further ones get 429; 0: any number."""
    webhook_log_days: Annotated[int, Meta(ge=7, le=365, extra={"unit": "days"})] = 30
    """How long the log of messages to the webhooks of companies is kept."""
    capture_wait_hours: Annotated[int, Meta(ge=1, le=720, extra={"unit": "h"})] = 24
    """How long the recording that a ticket rule captures waits for its device to be connected."""


@dataclass(frozen=True, kw_only=True)
class FleetSettings:
    """The settings that the supervision tree is built from: four values and the sections above."""

    data: Path = DatabaseSettings.data
    """Folder of captures, playbacks and uploads; default `data`."""
    protocols: tuple[str, ...] | None = None
    """Protocols to listen for; None (the default): all."""
    record: Path | None = None
    """Folder to record the traffic of devices in; None (the default): it is not recorded."""
    console_url: str = ""
    """Where users find the console, for links in mails; empty (the default): no links."""
    device: DeviceSettings = field(default_factory=DeviceSettings)
    public: PublicSettings = field(default_factory=PublicSettings)
    port: PortSettings = field(default_factory=PortSettings)
    register: RegisterSettings = field(default_factory=RegisterSettings)
    outbox: OutboxSettings = field(default_factory=OutboxSettings)
    notifications: NotificationSettings = field(default_factory=NotificationSettings)
    expirations: ExpirationSettings = field(default_factory=ExpirationSettings)
    forward: ForwardSettings = field(default_factory=ForwardSettings)
    video: VideoSettings = field(default_factory=VideoSettings)
    files: FileSettings = field(default_factory=FileSettings)
    captures: CaptureSettings = field(default_factory=CaptureSettings)
    positions: PositionSettings = field(default_factory=PositionSettings)
    events: EventSettings = field(default_factory=EventSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    statistics: StatisticsSettings = field(default_factory=StatisticsSettings)
    schedules: ScheduleSettings = field(default_factory=ScheduleSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)
    tickets: TicketSettings = field(default_factory=TicketSettings)


RETENTION_DEFAULTS: Mapping[tuple[str, str], int] = {
    ("positions", "retention_days"): 730,
    ("events", "retention_days"): 730,
    ("audit", "retention_days"): 730,
    ("statistics", "retention_days"): 730,
    ("files", "retention_days"): 730,
    ("files", "quota_bytes"): 10 << 30,
    ("files", "device_quota_bytes"): 1 << 30,
    ("captures", "retention_days"): 730,
    ("captures", "quota_bytes"): 10 << 30,
}
"""Section, name and value of what an unset retention or quota is in a new installation. In a database made
before there were these defaults it is 0: nothing is deleted that was to be kept
(docs/decisions/0039-retention-of-new-installations.md)."""


def with_retention_defaults(
    settings: FleetSettings, *, is_new: bool
) -> tuple[FleetSettings, tuple[str, ...]]:
    """Return the settings without unset retentions and quotas, and the names of those that were unset."""
    unset = []
    for (section, name), default in RETENTION_DEFAULTS.items():
        part = getattr(settings, section)
        if getattr(part, name) is None:
            unset.append(f"[{section}] {name}")
            chosen: dict[str, Any] = {section: replace(part, **{name: default if is_new else 0})}
            settings = replace(settings, **chosen)
    return settings, tuple(unset)
