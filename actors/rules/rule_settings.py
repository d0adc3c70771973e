"""What the rules read of attributes: a key, looked up from the device up to the configuration
(docs/positions.md#settings-of-the-rules).

Each field is also a setting of the section `[rules]`, the last place that is looked up; `Meta.extra["key"]`
is the name of the attribute.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta

from motorpool.actors.rules.driver_hours import NO_TIME, PRESETS, Limits
from motorpool.actors.rules.position_event import read_finite
from motorpool.actors.rules.trip_detection import TripSettings
from motorpool.codecs.calendars.time_zones import find_zone

MAX_LIST_LENGTH = 100
"""Names in a list of attributes; those beyond it are left out."""

_OWN_LIMITS: Mapping[str, Mapping[str, Any]] = {
    "driving": {},
    "pause": {"first_pause": NO_TIME, "last_pause": NO_TIME},
    "daily": {"extended": NO_TIME, "extensions": 0},
    "weekly": {},
    "fortnightly": {},
    "daily_rest": {"reduced_daily_rest": NO_TIME, "reductions": 0, "first_rest": NO_TIME},
    "weekly_rest": {"reduced_weekly_rest": NO_TIME},
}
"""Limits that may be set by themselves, and which exceptions of a preset fall then."""
_LONGEST = 28 * 86_400.0
"""Seconds; longer limits count as this."""


def _key(
    name: str, unit: str = "", *, least: float | None = None, choices: tuple[str, ...] = (), form: str = ""
) -> Meta:
    """Describe a setting by the name of its attribute."""
    extra: dict[str, object] = {"key": name}
    extra |= {"unit": unit} if unit else {}
    extra |= {"choices": choices} if choices else {}
    extra |= {"form": form} if form else {}
    return Meta(ge=least, extra=extra)


@dataclass(frozen=True, kw_only=True)
class RuleSettings:
    """The settings of the rules for one device, shared by the devices that have the same."""

    speed_limit: Annotated[float, _key("speedLimit", "kn", least=0)] = 0.0
    """Speed limit, where neither a geofence nor the position has one; 0: none."""
    fuel_drop_threshold: Annotated[float, _key("fuelDropThreshold", "l", least=0)] = 0.0
    """Decrease of `fuel` between two positions that is an event; 0: none is."""
    fuel_increase_threshold: Annotated[float, _key("fuelIncreaseThreshold", "l", least=0)] = 0.0
    """Increase of `fuel` between two positions that is an event; 0: none is."""
    fuel_capacity: Annotated[float, _key("fuelCapacity", "l", least=0)] = 0.0
    """Volume of the tank, by which reports turn `fuelLevel` into litres; 0: unknown."""
    engine_charging_voltage: Annotated[float, _key("engineChargingVoltage", "V", least=0)] = 0.0
    """`power` from which the engine of a device runs that sends neither `rpm` nor `ignition`; 0: unknown."""
    proximity_enter_distance: Annotated[float, _key("proximityEnterDistance", "m", least=0)] = 0.0
    """Distance to a linked device below which it is close; 0: no event."""
    proximity_exit_distance: Annotated[float, _key("proximityExitDistance", "m", least=0)] = 0.0
    """Distance to a linked device above which it is no longer close; 0: no event."""
    unaccompanied_distance: Annotated[float, _key("unaccompaniedDistance", "m", least=0)] = 0.0
    """A device that starts to move without a linked device within this is an event; 0: it is not."""
    device_inactivity_start: Annotated[float, _key("deviceInactivityStart", "ms", least=0)] = 0.0
    """Silence after which a device is inactive; 0: never."""
    device_inactivity_period: Annotated[float, _key("deviceInactivityPeriod", "ms", least=0)] = 0.0
    """Interval at which the event of an inactive device is repeated; 0: it is not."""
    decoder_timezone: Annotated[str | None, _key("decoder.timezone", form="zone")] = None
    """Time zone of the clocks of devices whose protocol sends local times: `Europe/Lisbon`."""

    event_status_enable: Annotated[bool, _key("event.status.enable")] = False
    """Whether a change of the status is an event."""
    event_ignore_duplicate_alerts: Annotated[bool, _key("event.ignoreDuplicateAlerts")] = True
    """Whether an alarm that the position before had too is no new event."""
    event_motion_speed_threshold: Annotated[float, _key("event.motion.speedThreshold", "kn", least=0)] = 0.01
    """Speed above which a device moves."""
    event_overspeed_minimal_duration: Annotated[
        float, _key("event.overspeed.minimalDuration", "s", least=0)
    ] = 0.0
    """Time above the limit after which it is an event."""
    event_overspeed_threshold_multiplier: Annotated[
        float, _key("event.overspeed.thresholdMultiplier", least=0)
    ] = 1.0
    """Factor by which the limit is exceeded before it counts."""
    event_overspeed_prefer_lowest: Annotated[bool, _key("event.overspeed.preferLowest")] = False
    """Whether the lowest limit of several geofences counts, instead of the highest."""
    event_geofence_segment_crossing: Annotated[bool, _key("event.geofence.segmentCrossing")] = False
    """Whether it is an event if the way between two positions crosses a geofence."""
    event_behavior_acceleration_threshold: Annotated[
        float, _key("event.behavior.accelerationThreshold", "m/s²", least=0)
    ] = 0.0
    """Acceleration from which it is an alarm; 0: none is."""
    event_behavior_braking_threshold: Annotated[
        float, _key("event.behavior.brakingThreshold", "m/s²", least=0)
    ] = 0.0
    """Deceleration from which it is an alarm; 0: none is."""

    report_trip_min_distance: Annotated[float, _key("report.trip.minDistance", "m", least=1)] = (
        TripSettings().min_distance
    )
    """Distance from where a device stood that makes a trip; remaining within it makes a stop."""
    report_trip_min_duration: Annotated[float, _key("report.trip.minDuration", "s", least=1)] = (
        TripSettings().min_duration
    )
    """Time within that distance that makes a stop."""
    report_trip_stop_gap: Annotated[float, _key("report.trip.stopGap", "s", least=1)] = (
        TripSettings().stop_gap
    )
    """Time without positions after which a drive in between is a trip of its own."""
    position_implausible_speed: Annotated[float, _key("position.implausibleSpeed", "kn", least=0)] = (
        TripSettings().implausible_speed
    )
    """A position that only a faster device could have reached is marked `implausible` and is not the latest,
    unless the one before was and is near to it; 0: none is."""
    report_idling_min_duration: Annotated[float, _key("report.idling.minDuration", "s", least=1)] = 120.0
    """Time that a device stands with its engine running from which it is in the report of idling."""
    report_fuel_min_fill: Annotated[float, _key("report.fuel.minFill", "l", least=0)] = 0.0
    """Rise of the fuel level that is a fill in reports; 0: by the size of the tank (docs/reports.md#fuel)."""
    report_fuel_min_loss: Annotated[float, _key("report.fuel.minLoss", "l", least=0)] = 0.0
    """Drop of the fuel level at rest that is a loss in reports; 0: by the size of the tank."""
    report_ignore_odometer: Annotated[bool, _key("report.ignoreOdometer")] = False
    """Whether distances in reports are those of the positions, although the device has an odometer."""
    report_score_acceleration: Annotated[float, _key("report.score.acceleration", least=0)] = 2.0
    """Points of the score of a driver that one hard acceleration in 100 km costs; 0: none."""
    report_score_braking: Annotated[float, _key("report.score.braking", least=0)] = 2.0
    """Points that one hard braking in 100 km costs; 0: none."""
    report_score_cornering: Annotated[float, _key("report.score.cornering", least=0)] = 2.0
    """Points that one hard cornering in 100 km costs; 0: none."""
    report_score_overspeed: Annotated[float, _key("report.score.overspeed", least=0)] = 3.0
    """Points that one event of speeding in 100 km costs; 0: none."""
    report_score_speeding: Annotated[float, _key("report.score.speeding", least=0)] = 1.0
    """Points that each percent of the driving time above the limit costs; 0: none."""
    report_score_phone: Annotated[float, _key("report.score.phone", least=0)] = 5.0
    """Points that one alarm of a phone in 100 km costs; 0: none."""
    report_score_fatigue: Annotated[float, _key("report.score.fatigue", least=0)] = 5.0
    """Points that one alarm of a tired driver in 100 km costs; 0: none."""

    driver_hours_limits: Annotated[str | None, _key("driverHours.limits", choices=("eu561",))] = None
    """Limits of the driving and resting time of drivers: `eu561`; unset: those below alone."""
    driver_hours_warning: Annotated[float, _key("driverHours.warning", "s", least=0)] = 1800.0
    """Time before a limit is reached at which it is an event; 0: it is not."""
    driver_hours_driving: Annotated[float, _key("driverHours.driving", "s", least=0)] = 0.0
    """Driving time without a break; 0: that of `driver_hours_limits`."""
    driver_hours_break: Annotated[float, _key("driverHours.break", "s", least=0)] = 0.0
    """Length of the break, which cannot be divided then; 0: that of `driver_hours_limits`."""
    driver_hours_daily: Annotated[float, _key("driverHours.daily", "s", least=0)] = 0.0
    """Driving time of a day, which is not extended then; 0: that of `driver_hours_limits`."""
    driver_hours_weekly: Annotated[float, _key("driverHours.weekly", "s", least=0)] = 0.0
    """Driving time of a week; 0: that of `driver_hours_limits`."""
    driver_hours_fortnightly: Annotated[float, _key("driverHours.fortnightly", "s", least=0)] = 0.0
    """Driving time of two weeks; 0: that of `driver_hours_limits`."""
    driver_hours_daily_rest: Annotated[float, _key("driverHours.dailyRest", "s", least=0)] = 0.0
    """Daily rest, which is not reduced then; 0: that of `driver_hours_limits`."""
    driver_hours_weekly_rest: Annotated[float, _key("driverHours.weeklyRest", "s", least=0)] = 0.0
    """Weekly rest, which is not reduced then; 0: that of `driver_hours_limits`."""

    time_override: Annotated[str | None, _key("time.override", choices=("serverTime", "deviceTime"))] = None
    """The time that replaces the device's own: `serverTime` both, `deviceTime` that of the fix."""
    location_latitude_hemisphere: Annotated[
        str | None, _key("location.latitudeHemisphere", choices=("N", "S"))
    ] = None
    """Hemisphere of all latitudes of devices that send no sign; unset: as sent."""
    location_longitude_hemisphere: Annotated[
        str | None, _key("location.longitudeHemisphere", choices=("E", "W"))
    ] = None
    """Hemisphere of all longitudes of devices that send no sign; unset: as sent."""
    coordinates_filter: Annotated[bool, _key("coordinates.filter")] = False
    """Whether a small or an impossible step repeats the coordinates of the position before."""
    coordinates_min_error: Annotated[float, _key("coordinates.minError", "m", least=0)] = 0.0
    """With `coordinates_filter`: a shorter step is jitter; 0: none is."""
    coordinates_max_error: Annotated[float, _key("coordinates.maxError", "m", least=0)] = 0.0
    """With `coordinates_filter`: a longer step is an error; 0: none is."""

    network_mobile_country_code: Annotated[int, _key("network.mobileCountryCode", least=0)] = 0
    """Country code of cells that a protocol sends without one; 0: they stay without."""
    network_mobile_network_code: Annotated[int, _key("network.mobileNetworkCode", least=0)] = 0
    """Network code of the same cells."""

    filter_enable: Annotated[bool, _key("filter.enable")] = True
    """Whether the following filters apply."""
    filter_invalid: Annotated[bool, _key("filter.invalid")] = False
    """Drops positions without a valid fix."""
    filter_zero: Annotated[bool, _key("filter.zero")] = False
    """Drops positions at latitude 0, longitude 0."""
    filter_outdated: Annotated[bool, _key("filter.outdated")] = False
    """Drops positions that repeat an earlier location."""
    filter_future: Annotated[float, _key("filter.future", "s", least=0)] = 0.0
    """Drops fixes further ahead of the server's clock; 0: none."""
    filter_past: Annotated[float, _key("filter.past", "s", least=0)] = 0.0
    """Drops older fixes; 0: none."""
    filter_accuracy: Annotated[float, _key("filter.accuracy", "m", least=0)] = 0.0
    """Drops less accurate positions; 0: none."""
    filter_approximate: Annotated[bool, _key("filter.approximate")] = False
    """Drops locations of cells and access points."""
    filter_duplicate: Annotated[bool, _key("filter.duplicate")] = False
    """Drops positions with the fix time of the one before and no new attribute."""
    filter_static: Annotated[bool, _key("filter.static")] = False
    """Drops positions with speed 0."""
    filter_distance: Annotated[float, _key("filter.distance", "m", least=0)] = 0.0
    """Drops positions closer to the one before; 0: none."""
    filter_max_speed: Annotated[float, _key("filter.maxSpeed", "kn", least=0)] = 0.0
    """Drops positions that only a faster device could have reached; 0: none."""
    filter_min_period: Annotated[float, _key("filter.minPeriod", "s", least=0)] = 0.0
    """Drops positions sooner after the one before; 0: none."""
    filter_daily_limit: Annotated[int, _key("filter.dailyLimit", "positions", least=0)] = 0
    """Drops positions beyond so many of one day of UTC; 0: none."""
    filter_daily_limit_interval: Annotated[float, _key("filter.dailyLimitInterval", "s", least=0)] = 0.0
    """Beyond the daily limit one position in this time is kept; 0: none."""
    filter_skip_limit: Annotated[float, _key("filter.skipLimit", "s", least=0)] = 0.0
    """The first position after such a silence is no duplicate, not static and not too close; 0: it may be."""
    filter_skip_attributes: Annotated[tuple[str, ...], _key("filter.skipAttributes")] = ()
    """Attributes whose change exempts a position from the same three filters, comma-separated."""

    processing_copy_attributes: Annotated[tuple[str, ...], _key("processing.copyAttributes")] = ()
    """Attributes that a position without them takes over from the one before, comma-separated."""
    processing_use_linked_driver: Annotated[bool, _key("processing.useLinkedDriver")] = False
    """Whether a position that names no driver gets the driver linked to its device."""
    processing_computed_attributes_device_attributes: Annotated[
        bool, _key("processing.computedAttributes.deviceAttributes")
    ] = False
    """Whether expressions of computed attributes know the attributes of the device."""
    processing_computed_attributes_last_attributes: Annotated[
        bool, _key("processing.computedAttributes.lastAttributes")
    ] = False
    """Whether expressions of computed attributes know the position before, as `lastSpeed`."""

    @cached_property
    def trips(self) -> TripSettings:
        """What makes a trip and what a stop."""
        return TripSettings(
            self.report_trip_min_distance,
            self.report_trip_min_duration,
            self.report_trip_stop_gap,
            self.position_implausible_speed,
        )

    @cached_property
    def driver_hours(self) -> Limits:
        """The limits of the driving and resting time of drivers."""
        found: dict[str, Any] = {}
        for own, exceptions in _OWN_LIMITS.items():
            seconds = getattr(self, f"driver_hours_{'break' if own == 'pause' else own}")
            if seconds > 0:
                found |= {own: timedelta(seconds=min(seconds, _LONGEST)), **exceptions}
        preset = PRESETS.get(self.driver_hours_limits or "", Limits())
        return msgspec.structs.replace(preset, **found)

    @cached_property
    def has_filters(self) -> bool:
        """Whether any filter but that of the device's calendar may drop a position."""
        return self.filter_enable and any(
            getattr(self, item.name)
            for item in fields(self)
            if item.name.startswith("filter_") and item.name != "filter_enable"
        )

    @cached_property
    def changes_location(self) -> bool:
        """Whether times or coordinates of reports may be changed."""
        return bool(
            self.time_override
            or self.location_latitude_hemisphere
            or self.location_longitude_hemisphere
            or self.coordinates_filter
        )


DEFAULTS = RuleSettings()
"""The settings of a device where nothing is configured."""


def _as_bool(value: object, meta: Meta) -> bool | None:
    del meta
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _as_number(value: object, meta: Meta) -> float | None:
    if isinstance(value, str) and value.isascii():
        try:
            value = float(value)
        except ValueError:
            return None
    number = read_finite(value)
    return None if number is None or (meta.ge is not None and number < meta.ge) else number


def _as_whole(value: object, meta: Meta) -> int | None:
    number = _as_number(value, meta)
    return int(number) if number is not None and number.is_integer() else None


def _as_text(value: object, meta: Meta) -> str | None:
    if not isinstance(value, str):
        return None
    text, extra = value.strip(), meta.extra or {}
    choices = extra.get("choices", ())
    if choices:
        return next((choice for choice in choices if choice.lower() == text.lower()), None)
    return text if extra.get("form") != "zone" or find_zone(text) is not None else None


def _as_names(value: object, meta: Meta) -> tuple[str, ...] | None:
    del meta
    if not isinstance(value, str):
        return None
    names = (name.strip() for name in value.split(","))
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_LIST_LENGTH]


_READERS: Mapping[object, Callable[[object, Meta], Any]] = {
    bool: _as_bool,
    float: _as_number,
    int: _as_whole,
    str | None: _as_text,
    tuple[str, ...]: _as_names,
}


def _described() -> dict[str, tuple[str, Callable[[object, Meta], Any], Meta]]:
    hints = get_type_hints(RuleSettings, include_extras=True)
    described = {}
    for item in fields(RuleSettings):
        kind, meta = get_args(hints[item.name])
        described[meta.extra["key"]] = item.name, _READERS[kind], meta
    return described


_FIELDS = _described()
"""By key: the field, the function that reads its values, and its description."""
RULE_KEYS = frozenset(_FIELDS)
"""The keys of attributes that `read_rule_settings` looks up."""


def read_rule_settings(
    layers: Sequence[Mapping[str, Any]], configuration: RuleSettings = DEFAULTS
) -> RuleSettings:
    """Look up all keys: the first of `layers` with a valid value counts, and last the configuration.

    `layers` are attributes: those of the device, its group, the groups above, and the server. Texts are
    parsed; a value of a wrong type or below its least counts as absent. Returns `configuration` itself if no
    layer has any.
    """
    found: dict[str, Any] = {}
    for layer in layers:
        for key in layer.keys() & RULE_KEYS:
            name, read, meta = _FIELDS[key]
            if name not in found and (value := read(layer[key], meta)) is not None:
                found[name] = value
    return replace(configuration, **found) if found else configuration
