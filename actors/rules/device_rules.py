"""What is configured for a device: the input of the rules beside reports and state.

`actors/devices/rule_cache.py` makes one for each configuration, which the devices that have it share.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final

import msgspec

from motorpool.actors.rules.computed import CompiledAttribute, UsedNames, used_names
from motorpool.actors.rules.geofence_index import EMPTY, GeofenceIndex
from motorpool.actors.rules.identity_rules import DEFAULTS as BOUND_BY_PROTOCOL
from motorpool.actors.rules.identity_rules import IdentityRules
from motorpool.actors.rules.rule_settings import DEFAULTS, RuleSettings
from motorpool.actors.rules.sensor_limits import NO_LIMITS, SensorLimits
from motorpool.actors.rules.severity import UNCONFIGURED as UNGRADED
from motorpool.actors.rules.severity import Severities
from motorpool.codecs.calendars.calendar import block_of, span_at
from motorpool.storage.records import Calendar, Maintenance

_MAX_HORIZON: Final = timedelta(days=1830)
"""Calendars are not expanded for instants further from the present."""


class LocalCalendar(msgspec.Struct, eq=False):
    """A calendar and the time zone of its floating times, with those of its windows that were computed.

    They are computed in another thread, since that may take seconds: rules only look them up.
    """

    row: Calendar
    zone: tzinfo
    blocks: dict[int, Sequence[float]] = {}
    """The edges of windows by block (codecs/calendars/calendar.py)."""
    latest: tuple[float, float, bool] = (0.0, 0.0, False)
    """The span in which the latest instant was, and whether it is open: the next is mostly there too."""

    def covers(self, instant: datetime, now: datetime) -> bool:
        """Whether one of its events takes place at `instant`; none does five years or more from `now`.

        Raises:
            WindowsMissing: its windows must be computed first.
        """
        if abs(instant - now) >= _MAX_HORIZON:
            return False
        seconds = instant.timestamp()
        begin, end, is_open = self.latest
        if begin <= seconds < end:
            return is_open
        number = block_of(instant)
        edges = self.blocks.get(number)
        if edges is None:
            raise WindowsMissing((self,), number)
        self.latest = span_at(edges, number, seconds)
        return self.latest[2]


class WindowsMissing(Exception):
    """A rule needs windows of a block that were not computed (`RuleCache.prepare`). It is asked again
    afterwards.
    """

    def __init__(self, calendars: Sequence[LocalCalendar], block: int) -> None:
        super().__init__([calendar.row.id for calendar in calendars], block)
        self.calendars = calendars
        self.block = block


class DeviceRules(msgspec.Struct, frozen=True, gc=False):
    """Everything configured that concerns a device, directly or by its groups."""

    settings: RuleSettings = DEFAULTS
    geofences: GeofenceIndex = EMPTY
    early_computed: tuple[CompiledAttribute, ...] = ()
    """Computed attributes with a priority below 0, in the order in which they are computed."""
    computed: tuple[CompiledAttribute, ...] = ()
    """The other computed attributes, in the order in which they are computed."""
    calendar: LocalCalendar | None = None
    """The device's own; positions outside its events are dropped. None: all are kept."""
    calendars: Mapping[int, LocalCalendar] = {}
    """Those of the geofences, by their ids; a calendar that cannot be read is missing."""
    maintenances: tuple[Maintenance, ...] = ()
    """In the order of their ids."""
    linked_devices: tuple[int, ...] = ()
    """Devices that travel with this one, in the order of their ids."""
    protocol_attributes: Mapping[str, Any] = {}
    """What codecs read of attributes, such as `h02.ack`: of the groups, the server and the configuration.
    Those of the device precede them."""
    identity: IdentityRules = BOUND_BY_PROTOCOL
    """Who may report as the device."""
    sensor_limits: SensorLimits = NO_LIMITS
    """What makes events of numeric attributes."""
    severities: Severities = UNGRADED
    """How severe events are, where that differs from the defaults."""
    driver_unique_id: str | None = None
    """Unique id of the linked driver with the lowest id; only with `processing.useLinkedDriver`."""
    early_computed_names: UsedNames = UsedNames()
    """The variables that `early_computed` use, from which it is set."""
    computed_names: UsedNames = UsedNames()
    """Those that `computed` use, from which it is set."""

    def __post_init__(self) -> None:
        """Set what follows from the computed attributes once, not for each position."""
        settings = self.settings
        for field, compiled in (
            ("early_computed_names", self.early_computed),
            ("computed_names", self.computed),
        ):
            used = used_names(
                (name for each in compiled for name in each.expression.names),
                of_last=settings.processing_computed_attributes_last_attributes,
                of_device=settings.processing_computed_attributes_device_attributes,
                work=sum(each.expression.work for each in compiled),
            )
            msgspec.structs.force_setattr(self, field, used)

    @property
    def compares_linked_devices(self) -> bool:
        """Whether it matters how far the linked devices are."""
        settings = self.settings
        return bool(self.linked_devices) and (
            settings.proximity_enter_distance > 0 or settings.proximity_exit_distance > 0
        )


UNCONFIGURED: Final = DeviceRules()
"""The rules of a device for which nothing is configured."""
