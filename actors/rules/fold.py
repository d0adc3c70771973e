"""The position pipeline: one report and the state of the device in, a new position and its events out.

Pure: no actor, no clock, no SQL. `fold` calls the rules in the order of docs/positions.md#pipeline. To add a
rule, write it as a function in this package and call it in `fold`. What is configured for it is in
`DeviceRules`, what it remembers from one position to the next is a field of `FoldState`.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from motorpool.actors.rules.carried_values import add_hours, copy_attributes
from motorpool.actors.rules.cell_networks import complete_network
from motorpool.actors.rules.computed import Failures, compute_values
from motorpool.actors.rules.device_rules import UNCONFIGURED, DeviceRules
from motorpool.actors.rules.distance import add_distance, remove_distance
from motorpool.actors.rules.event_rules import (
    FoldResult,
    FoldState,
    events_of,
    events_of_implausible,
    late_events_of,
)
from motorpool.actors.rules.filters import is_dropped
from motorpool.actors.rules.geofence_index import EMPTY
from motorpool.actors.rules.sensor_events import put_state
from motorpool.actors.rules.times import (
    ROLLOVER_AGE,
    UNKNOWN_FIX_TIME,
    correct_coordinates,
    override_times,
    unroll,
)
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Device, Event, Position

FUTURE: Final = timedelta(days=1)
"""A fix that is further ahead of its arrival is stored but never the latest (docs/decisions/0022)."""
_NO_LOCATION = PositionReport({}, located=False)


class FoldContext(msgspec.Struct, frozen=True, gc=False):
    """What the rules know beside the report and the state."""

    device_id: int
    protocol: str
    server_time: datetime
    """When the report arrived."""
    events: tuple[Event, ...] = ()
    """Events that the report itself stands for: a command's result, an uploaded file. Default none."""
    rules: DeviceRules = UNCONFIGURED
    device: Device | None = None
    """The row of the device, for expressions that may read its attributes; None: they know none."""
    linked: tuple[Position, ...] | None = ()
    """The latest positions of the devices linked to this one, of those that have any; None: not known."""
    work_here: int | None = None
    """The work that computed attributes may take in this thread; None: that of their own limits."""


def fold(report: PositionReport, state: FoldState, context: FoldContext) -> FoldResult:
    """Apply the rules to `report`, which follows `state`.

    Raises:
        WindowsMissing: windows of calendars must be computed first.
        TooMuchHere: computed attributes take more than `work_here`.
    """
    latest, rules, server_time = state.latest, context.rules, context.server_time
    settings = rules.settings
    failures: Failures = ()
    attributes = dict(report.attributes)
    if rules.early_computed:
        report, failures = _compute_early(report, attributes, latest, context)
    place: PositionReport | Position
    device_time = report.device_time or server_time
    oldest = server_time - ROLLOVER_AGE
    if device_time < oldest:
        device_time = unroll(device_time, server_time)
    if report.located:
        # A device that sent no time at all may have sent the report from its memory.
        outdated = report.device_time is None and report.fix_time is None and not report.valid
        fix_time = report.fix_time or device_time
        if fix_time is not device_time and fix_time < oldest:
            fix_time = unroll(fix_time, server_time)
        if settings.changes_location:
            device_time, fix_time = override_times(device_time, fix_time, server_time, settings)
            report = correct_coordinates(report, latest, settings)
        place = report
    else:
        outdated = True
        place = latest or _NO_LOCATION
        fix_time = latest.fix_time if latest is not None else UNKNOWN_FIX_TIME
    ahead, is_future = 0.0, False
    if fix_time > server_time:
        lead = fix_time - server_time
        ahead, is_future = lead.total_seconds(), lead > FUTURE
    replaces = not is_future and (latest is None or fix_time >= latest.fix_time)
    add_distance(report, latest, attributes, replaces)
    if report.archived:
        attributes["archive"] = True
    if is_future:
        attributes["future"] = True
    geofences = rules.geofences
    geofence_ids = None
    if geofences is not EMPTY:
        geofence_ids = geofences.containing(place.latitude, place.longitude, place.altitude) or None
    # All fields in their order: by keyword it would take four times as long.
    position = Position(
        0,
        context.device_id,
        context.protocol,
        server_time,
        device_time,
        fix_time,
        outdated,
        place.valid,
        place.latitude,
        place.longitude,
        place.altitude,
        place.speed,
        place.course,
        None,
        place.accuracy,
        complete_network(report.network, settings) if report.network is not None else None,
        geofence_ids,
        attributes,
    )
    if (settings.has_filters and is_dropped(position, latest, settings, state.stored_on(fix_time))) or (
        rules.calendar is not None and not rules.calendar.covers(fix_time, server_time)
    ):
        return FoldResult(None, context.events, state, failures)
    # Whether the device can be where it says (docs/events.md#implausible-positions).
    is_implausible = replaces and not outdated and not state.trip.believes(position, ahead, settings.trips)
    if is_implausible:
        replaces = False
        attributes["implausible"] = True
        remove_distance(report, latest, attributes)
    if "motion" not in attributes:
        attributes["motion"] = place.speed > settings.event_motion_speed_threshold
    if rules.computed:
        fields, more = compute_values(
            rules.computed,
            rules.computed_names,
            attributes,
            position,
            latest,
            context.device,
            context.work_here,
        )
        if fields:
            position = msgspec.structs.replace(position, **fields)
        failures += more
    if rules.driver_unique_id is not None:
        attributes.setdefault("driverUniqueId", rules.driver_unique_id)
    if latest is not None:
        if settings.processing_copy_attributes:
            copy_attributes(settings.processing_copy_attributes, latest, attributes)
        if "hours" not in attributes:
            add_hours(position, latest, settings.engine_charging_voltage)
    if is_implausible:
        attributes["implausible"] = True
    elif "implausible" in attributes:
        # Neither devices nor expressions say so.
        del attributes["implausible"]
    known = context.events
    if replaces:
        result = events_of(position, state, rules, known, context.linked)
        if rules.sensor_limits:
            put_state(attributes, result.state.sensors, position)
        return msgspec.structs.replace(result, failures=failures) if failures else result
    if is_implausible:
        result = events_of_implausible(position, state, rules, known)
        events, state = result.events, result.state
    else:
        events = known + late_events_of(position, known)
    if fix_time.toordinal() == state.day and not is_future:
        state = msgspec.structs.replace(state, stored_that_day=state.stored_that_day + 1)
    return FoldResult(position, events, state, failures)


def _compute_early(
    report: PositionReport, attributes: dict[str, Any], latest: Position | None, context: FoldContext
) -> tuple[PositionReport, Failures]:
    """Compute the attributes that come before all other rules, from what the device sent.

    They are put into `attributes`, which are those of the report. Fields are replaced in the report.
    """
    rules = context.rules
    used = rules.early_computed_names
    fields, failures = compute_values(
        rules.early_computed,
        used,
        attributes,
        _position_sent(report, context) if used.fields else None,
        latest,
        context.device,
        context.work_here,
    )
    if not fields:
        return report, failures
    # A report has no address.
    fields.pop("address", None)
    return msgspec.structs.replace(report, **fields), failures


def _position_sent(report: PositionReport, context: FoldContext) -> Position:
    device_time = report.device_time or context.server_time
    return Position(
        device_id=context.device_id,
        protocol=context.protocol,
        server_time=context.server_time,
        device_time=device_time,
        fix_time=report.fix_time or device_time,
        valid=report.valid,
        latitude=report.latitude,
        longitude=report.longitude,
        altitude=report.altitude,
        speed=report.speed,
        course=report.course,
        accuracy=report.accuracy,
        network=dict(report.network) if report.network is not None else None,
    )


def is_latest(position: Position, latest: Position | None) -> bool:
    """Whether `position` replaces `latest`; of two with one fix time the one that arrived later does."""
    return (latest is None or position.fix_time >= latest.fix_time) and can_be_latest(position)


def can_be_latest(position: Position) -> bool:
    """Whether a position says where the device is now: no fix from the future, nor where it cannot be."""
    return position.fix_time - position.server_time <= FUTURE and "implausible" not in position.attributes
