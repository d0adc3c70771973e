"""Settings of the fleet: the sections of motorpool.toml that actors use, each defined in its room.

`motorpool settings` prints the docstring of each field, its unit and its default. `Meta` holds the bounds
and, in `extra`, the unit and further checks (`motorpool/api/program/configuration.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from motorpool.actors.deliveries.settings import OutboxSettings
from motorpool.actors.events.settings import NotificationSettings
from motorpool.actors.files.settings import FileSettings
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.gateway.settings import DeviceSettings, PortSettings, RegisterSettings
from motorpool.actors.helpdesk.settings import TicketSettings
from motorpool.actors.mailings.settings import ExpirationSettings
from motorpool.actors.reports.settings import ReportSettings
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.actors.schedules.settings import ScheduleSettings
from motorpool.actors.upkeep.settings import (
    AuditSettings,
    EventSettings,
    PositionSettings,
    StatisticsSettings,
)
from motorpool.actors.video.settings import CaptureSettings, VideoSettings
from motorpool.storage.settings import DatabaseSettings

S = TypeVar("S", bound="FleetSettings")


@dataclass(frozen=True, kw_only=True)
class PublicSettings:
    """The addresses under which devices and users reach this server."""

    host: str | None = None
    """Host that devices are instructed to send media to; unset: the address that they connected to."""
    port_offset: Annotated[int | None, Meta(ge=0, le=50000)] = None
    """Number added to every device port in what users are told to set their devices to, where a proxy has
    other ports than this server; unset: `port.offset`."""
    url: Annotated[str | None, Meta(extra={"form": "url"})] = None
    """Public URL of the console, such as `https://fleet.example.org`, used by links in mails and by the
    OpenID provider; unset: derived from the address that the server listens on."""


@dataclass(frozen=True, kw_only=True)
class FleetSettings:
    """The settings that the supervision tree is built from."""

    data: Path = DatabaseSettings.data
    """Folder of the embedded database, captures, uploads and keys."""
    protocols: tuple[str, ...] | None = None
    """Protocols to listen for, comma-separated; unset: all."""
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


def with_retention_defaults(settings: S, *, is_new: bool) -> tuple[S, tuple[str, ...]]:
    """Return the settings without unset retentions and quotas, and the names of those that were unset."""
    unset = []
    for (section, name), default in RETENTION_DEFAULTS.items():
        part = getattr(settings, section)
        if getattr(part, name) is None:
            unset.append(f"[{section}] {name}")
            chosen: dict[str, Any] = {section: replace(part, **{name: default if is_new else 0})}
            settings = replace(settings, **chosen)
    return settings, tuple(unset)
