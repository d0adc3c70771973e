"""The data sources of reports, and the user a report is made for."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, TypeVar

import msgspec
import trio

from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.geocoding.places import Places
from motorpool.actors.messages.access import ACCESS, GetMembers, GetVisible, MaySee
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.actors.reports.driver_score import ScoreWeights
from motorpool.actors.rules.rule_settings import DEFAULTS, RuleSettings
from motorpool.actors.rules.sensor_limits import NO_LIMITS, SensorLimits
from motorpool.actors.words.preferences import preferences_for
from motorpool.runtime import System
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.records import Device, ServerSettings, User

_log = logging.getLogger(__name__)

DEVICE_BATCH = 100
"""Devices whose rows are read at once."""
CONCURRENT = 4
"""Devices that are evaluated at the same time, for all reports together: each holds a connection to the
database meanwhile."""
LOG_SECONDS = 10.0
"""Interval at which a report that takes long logs its progress."""
WRITERS = 2
"""Threads that write workbooks."""

T = TypeVar("T")
Place = tuple[float, float]
"""Latitude and longitude in degrees."""


Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
AttributeKey = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class ReportQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What a report is to cover; the fields below `end` are for reports that name them as `options`."""

    device_ids: tuple[int, ...] = ()
    group_ids: tuple[int, ...] = ()
    """Without devices and groups: all devices that the viewer is linked to."""
    start: datetime
    end: datetime
    """Both included."""
    timezone: str = ""
    """Where neither the viewer nor the server has a time zone: that of who asks; empty: UTC."""
    daily: bool = False
    """An item for each day of the caller's time zone, not one for all."""
    types: tuple[str, ...] = ()
    """Types of events; none or `allEvents`: all."""
    alarms: tuple[str, ...] = ()
    """Alarms: events of type `alarm` with others are left out."""
    geofence_ids: tuple[Id, ...] = ()
    """The geofences; without any the report is empty."""
    attributes: Annotated[tuple[AttributeKey, ...], msgspec.Meta(max_length=20)] = ()
    """Keys of numeric attributes of positions; without any those with limits."""
    interval: Annotated[int, msgspec.Meta(ge=0, le=31_536_000)] = 0
    """Seconds; longer where the span would have more than 1,000 intervals. 0: chosen by the span."""
    driver_ids: tuple[Id, ...] = ()
    """Only these drivers; without any all."""
    latitude: Annotated[float, msgspec.Meta(ge=-90, le=90)] = 0.0
    """Degrees of the place, north positive."""
    longitude: Annotated[float, msgspec.Meta(ge=-180, le=180)] = 0.0
    """Degrees of the place, east positive."""
    radius: Annotated[float, msgspec.Meta(ge=10, le=5000)] = 100.0
    """Metres around the place."""


class ReportRules(msgspec.Struct, frozen=True):
    """The settings of a device that its reports depend on."""

    settings: RuleSettings = DEFAULTS
    sensor_limits: SensorLimits = NO_LIMITS

    @property
    def score(self) -> ScoreWeights:
        """What the score of a driver is made of."""
        settings = self.settings
        return ScoreWeights(
            accelerations=settings.report_score_acceleration,
            brakings=settings.report_score_braking,
            cornerings=settings.report_score_cornering,
            overspeeds=settings.report_score_overspeed,
            phone_alarms=settings.report_score_phone,
            fatigue_alarms=settings.report_score_fatigue,
            speeding=settings.report_score_speeding,
        )


class Viewer:
    """The user for whom a report is made, and which devices it may cover (docs/reports.md#requests)."""

    def __init__(self, system: System, user: User, settings: ServerSettings, timezone: str = "") -> None:
        self.user = user
        self.preferences = preferences_for(user, settings, timezone=timezone)
        """Time zone and units."""
        self.places: Places | None = None
        """Says where something is; read when that is first asked."""
        self._system = system

    @property
    def sees_only(self) -> int | None:
        """The user to whose links what is named is limited; None for administrators, who see all."""
        return None if self.user.administrator else self.user.id

    async def select(self, device_ids: Collection[int], group_ids: Collection[int]) -> list[int]:
        """Return the given devices, and the devices in the given groups, that the user may see, in order.

        Without either, all devices that the user is linked to.
        """
        access = self._system.ref(ACCESS)
        if not device_ids and not group_ids:
            linked: frozenset[int] = await access.ask(GetVisible(self.user.id))
            return sorted(linked)
        asked = set(device_ids)
        for group_id in group_ids:
            members: frozenset[int] = await access.ask(GetMembers(group_id))
            asked |= members
        return sorted(await self._visible(asked))

    async def still_visible(self, device_ids: Sequence[int]) -> Sequence[int]:
        """Return which of the devices the user may still see; called before each batch."""
        visible = await self._visible(device_ids)
        return [device_id for device_id in device_ids if device_id in visible]

    async def _visible(self, device_ids: Collection[int]) -> set[int]:
        """Return which of the devices the user may see; an administrator sees every device that exists."""
        access = self._system.ref(ACCESS)
        if self.user.administrator:
            return {each for each in device_ids if await access.ask(MaySee(0, each))}
        visible: frozenset[int] = await access.ask(GetVisible(self.user.id))
        return set(device_ids) & visible


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What the reports of one server are made from."""

    system: System
    database: Database
    geocoder: Callable[[], Geocoder | None] = lambda: None
    addresses: Callable[[Sequence[Place]], Awaitable[Sequence[str | None]]] | None = None
    """Looks up addresses for one report (`for_report`); None if there is no geocoder."""
    slots: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(CONCURRENT))
    threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(WRITERS))

    def for_report(self) -> "Sources":
        """Return the sources of one report, which looks up addresses for a limited time in all."""
        geocoder, monotonic = self.geocoder(), self.system.clock.monotonic
        if geocoder is None:
            return self
        left = geocoder.service.request_seconds

        async def limited(places: Sequence[Place]) -> Sequence[str | None]:
            nonlocal left
            began = monotonic()
            found = await geocoder.addresses(places, seconds=left)
            left -= monotonic() - began
            return found

        return replace(self, addresses=limited)

    async def rules_of(self, device: Device) -> ReportRules:
        """Return the settings of a device."""
        found = await self.system.ref(RULE_CACHE).ask(GetRules((device.id,)))
        if device.id not in found:
            return ReportRules()
        rules = found[device.id]
        return ReportRules(rules.settings, rules.sensor_limits)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Call `work()` in one of the threads that write workbooks."""
        return await trio.to_thread.run_sync(work, limiter=self.threads)


async def devices_of(
    sources: Sources, viewer: Viewer, query: ReportQuery, *, batch: int = DEVICE_BATCH
) -> AsyncGenerator[list[Device], None]:
    """Yield the devices of a report in batches, ordered by id; rights are checked again before each batch."""
    ids = await viewer.select(query.device_ids, query.group_ids)
    monotonic = sources.system.clock.monotonic
    logged_at = monotonic()
    for begin in range(0, len(ids), batch):
        if monotonic() - logged_at > LOG_SECONDS:
            logged_at = monotonic()
            _log.info("report for user %d: %d of %d devices", viewer.user.id, begin, len(ids))
        visible = await viewer.still_visible(ids[begin : begin + batch])
        rows = await devices.TABLE.fetch_many(sources.database, visible)
        if rows:
            yield rows
