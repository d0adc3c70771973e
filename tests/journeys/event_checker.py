"""What the server has to store of a recorded week, worked out slowly and from the documentation alone
(docs/positions.md, docs/events.md, docs/geofences.md).

Nothing of the server is imported: this is what it is checked against. Where a position is so near to a border
that rounding decides, `Ambiguous` is raised: choose another seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from tests.actors.reports import brute_force
from tests.journeys.recorded_week import (
    DEGREE,
    FENCES,
    GROUPS,
    KNOT,
    OFFICE,
    SERVICES,
    Change,
    Fence,
    Report,
    Service,
    Vehicle,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MARGIN = 0.05
"""Metres from a border within which rounding may decide."""
CHORD_POINTS = 2_000
"""Points at which the way between two positions is looked at."""


class Ambiguous(Exception):
    """A position on a border: no test is possible."""


@dataclass(frozen=True)
class Made:
    """An event."""

    type: str
    time: datetime
    position: int
    """Index of the stored position it belongs to."""
    attributes: dict[str, Any]
    fence: str = ""
    service: str = ""


@dataclass
class Stored:
    """A position that is stored, with what the rules compare."""

    index: int
    report: Report
    fix_time: datetime
    device_time: datetime
    latitude: float
    longitude: float
    speed: float
    attributes: dict[str, Any]
    fences: tuple[str, ...]
    limit: tuple[float, str]
    """Knots, 0 for none, and the geofence that sets it."""
    is_repeated: bool
    applicable: tuple[str, ...]
    """Geofences of the vehicle at that time."""
    settings: dict[str, Any]
    distance: float


@dataclass(frozen=True)
class Answer:
    """What is to be stored of a vehicle."""

    positions: list[Stored]
    """In the order in which they arrive."""
    events: list[Made]
    """All but those of motion, in the order in which they are stored."""
    motions: list[Made]
    """In the order in which they are stored."""
    repeated: list[Made]
    """Those of `events` that come again if their message does."""


def check(vehicle: Vehicle, now: datetime) -> Answer:
    """Work out the positions and events of a vehicle whose messages all arrive at `now`."""
    stored: list[Stored] = []
    chain: list[Stored] = []
    # Those that may become the latest and say where the vehicle is.
    located: list[Stored] = []
    events: list[Made] = []
    repeated: list[Made] = []
    settings, group = vehicle.attributes, vehicle.group
    sensor = _Sensor()
    for step in vehicle.steps:
        if isinstance(step, Change):
            settings, group = step.attributes, step.group
            continue
        last = chain[-1] if chain else None
        position = _position(step, last, vehicle.number, settings, group, len(stored))
        is_future = position.fix_time - now > timedelta(hours=24)
        if is_future:
            position.distance = 0.0
        is_next = not is_future and (last is None or position.fix_time >= last.fix_time)
        if _is_filtered(position, last if is_next else None, settings):
            continue
        if vehicle.office_hours and not _is_open(position.fix_time):
            continue
        stored.append(position)
        of_the_message = _events_of_the_message(position)
        events += of_the_message
        repeated += of_the_message
        if is_next and not position.is_repeated:
            if not located:
                follower = brute_force.Follower(_rules(position.settings))
            located.append(position)
            if follower.take(_point(position, now)) == "implausible":
                alarms = _new_alarms(position, last)
                events += alarms
                repeated += alarms
                continue
        if is_next:
            _carry(position, last, settings)
            chain.append(position)
            events += _events(chain, sensor.events(position))
    return Answer(stored, events, _motions(located, follower) if located else [], repeated)


def _position(
    report: Report,
    last: Stored | None,
    number: str,
    settings: dict[str, Any],
    group: str,
    index: int,
) -> Stored:
    if report.latitude is None or report.longitude is None:
        assert last is not None
        latitude, longitude, speed, fix_time = last.latitude, last.longitude, last.speed, last.fix_time
        distance = 0.0
    else:
        latitude, longitude, speed, fix_time = report.latitude, report.longitude, report.speed, report.time
        distance = 0.0
        if last is not None:
            distance = round(_metres(last.latitude, last.longitude, latitude, longitude), 2)
    applicable = [fence for fence in FENCES if number in fence.vehicles or group in fence.groups]
    inside = tuple(fence.name for fence in applicable if _contains(fence, latitude, longitude))
    limits = [(fence.speed_limit, fence.name) for fence in applicable if fence.name in inside]
    limits = [each for each in limits if each[0]]
    if limits:
        limit = min(limits) if settings.get("event.overspeed.preferLowest") else max(limits)
    elif report.attributes.get("speedLimit"):
        limit = (report.attributes["speedLimit"], "")
    else:
        limit = (settings.get("speedLimit") or GROUPS.get(group, {}).get("speedLimit") or 0.0, "")
    return Stored(
        index=index,
        report=report,
        fix_time=fix_time,
        device_time=report.time,
        latitude=latitude,
        longitude=longitude,
        speed=speed,
        attributes=dict(report.attributes),
        fences=inside,
        limit=limit,
        is_repeated=report.latitude is None,
        applicable=tuple(fence.name for fence in applicable),
        settings=settings,
        distance=distance,
    )


def _is_filtered(position: Stored, last: Stored | None, settings: dict[str, Any]) -> bool:
    if settings.get("filter.invalid") and not position.report.valid:
        return True
    if last is None:
        return False
    seconds = (position.fix_time - last.fix_time).total_seconds()
    fastest = settings.get("filter.maxSpeed")
    if fastest and seconds > 0 and position.distance / seconds / KNOT > fastest:
        return True
    names = set(position.attributes) | {"distance", "totalDistance"}
    return bool(settings.get("filter.duplicate")) and seconds == 0 and names <= set(last.attributes)


def _carry(position: Stored, last: Stored | None, settings: dict[str, Any]) -> None:
    """Add what follows from the position before."""
    attributes, before = position.attributes, {} if last is None else last.attributes
    attributes["distance"], attributes["motion"] = position.distance, position.speed > 0.01
    attributes["totalDistance"] = round(before.get("totalDistance", 0.0) + position.distance, 2)
    for name in settings.get("processing.copyAttributes", "").split(","):
        if name in before:
            attributes.setdefault(name, before[name])
    hours = before.get("hours", 0)
    if last is not None and attributes.get("ignition") is True and before.get("ignition") is True:
        hours += max(0, (position.device_time - last.device_time) // timedelta(milliseconds=1))
    if hours:
        attributes["hours"] = hours


def _events_of_the_message(position: Stored) -> list[Made]:
    found = []
    if "image" in position.attributes:
        found.append(_made("media", position, {"media": "image", "file": position.attributes["image"]}))
    if "result" in position.attributes:
        found.append(_made("commandResult", position, {"result": position.attributes["result"]}))
    return found


def _events(chain: Sequence[Stored], of_sensor: list[Made]) -> list[Made]:
    """Return the events of the last position of a chain, in the order of docs/events.md."""
    position, last = chain[-1], chain[-2] if len(chain) > 1 else None
    found = _speeding(chain)
    if last is None:
        found += of_sensor
        found += [_made("geofenceEnter", position, fence=name) for name in _by_id(position.fences, position)]
        found += _new_alarms(position, None)
        if "driverUniqueId" in position.attributes:
            found.append(_driver_changed(position))
        return found
    found += _behaviour(position, last)
    found += _fuel(position, last)
    found += of_sensor
    left = [name for name in last.fences if name not in position.fences]
    entered = [name for name in position.fences if name not in last.fences]
    found += [_made("geofenceExit", position, fence=name) for name in _by_id(left, position)]
    found += [_made("geofenceEnter", position, fence=name) for name in _by_id(entered, position)]
    if position.settings.get("event.geofence.segmentCrossing") and not position.is_repeated:
        crossed = [name for name in position.applicable if _crosses(_fence(name), last, position)]
        found += [_made("geofenceCrossed", position, fence=name) for name in _by_id(crossed, position)]
    found += _new_alarms(position, last)
    before, after = last.attributes.get("ignition"), position.attributes.get("ignition")
    if before is not None and after is not None and before != after:
        found.append(_made("ignitionOn" if after else "ignitionOff", position))
    for service in SERVICES:
        old, new = last.attributes.get(service.type), position.attributes.get(service.type)
        if old and new and _turns(service, new) > _turns(service, old):
            found.append(_made("maintenance", position, {service.type: new}, service=service.name))
    driver = position.attributes.get("driverUniqueId")
    if driver is not None and driver != last.attributes.get("driverUniqueId"):
        found.append(_driver_changed(position))
    return found


def _turns(service: Service, value: float) -> int:
    """How often a maintenance has been due up to a value."""
    count = 0
    while service.start + count * service.period <= value:
        count += 1
    return count


def _driver_changed(position: Stored) -> Made:
    return _made("driverChanged", position, {"driverUniqueId": position.attributes["driverUniqueId"]})


def _new_alarms(position: Stored, last: Stored | None) -> list[Made]:
    known = []
    if last is not None and position.settings.get("event.ignoreDuplicateAlerts", True):
        known = _alarms(last)
    return [_made("alarm", position, {"alarm": key}) for key in _alarms(position) if key not in known]


def _alarms(position: Stored) -> list[str]:
    return [key for key in position.attributes.get("alarm", "").split(",") if key]


def _speeding(chain: Sequence[Stored]) -> list[Made]:
    """Return the event if the last position is the one by which an episode has lasted long enough."""

    def is_over(position: Stored) -> bool:
        times = position.settings.get("event.overspeed.thresholdMultiplier", 1.0)
        return position.limit[0] > 0 and position.speed > position.limit[0] * times

    located = [position for position in chain if not position.is_repeated]
    if chain[-1].is_repeated or not is_over(located[-1]):
        return []
    first = len(located) - 1
    while first > 0 and is_over(located[first - 1]):
        first -= 1
    late = [
        position
        for position in located[first:]
        if (position.fix_time - located[first].fix_time).total_seconds()
        >= position.settings.get("event.overspeed.minimalDuration", 0.0)
    ]
    if not late or late[0] is not located[-1]:
        return []
    position = late[0]
    attributes = {"speed": position.speed, "speedLimit": position.limit[0]}
    return [_made("deviceOverspeed", position, attributes, fence=position.limit[1])]


def _behaviour(position: Stored, last: Stored) -> list[Made]:
    seconds = (position.fix_time - last.fix_time).total_seconds()
    if position.is_repeated or last.is_repeated or seconds <= 0:
        return []
    change = (position.speed - last.speed) * KNOT / seconds
    most = position.settings.get("event.behavior.accelerationThreshold")
    least = position.settings.get("event.behavior.brakingThreshold")
    name = ""
    if most and change >= most:
        name = "hardAcceleration"
    elif least and -change >= least:
        name = "hardBraking"
    return [_made("alarm", position, {"alarm": name})] if name and name not in _alarms(position) else []


def _fuel(position: Stored, last: Stored) -> list[Made]:
    before, after = last.attributes.get("fuel"), position.attributes.get("fuel")
    drop = position.settings.get("fuelDropThreshold")
    increase = position.settings.get("fuelIncreaseThreshold")
    if before is None or after is None:
        return []
    levels = {"before": before, "after": after}
    if drop and before - after >= drop:
        return [_made("deviceFuelDrop", position, levels)]
    if increase and after - before >= increase:
        return [_made("deviceFuelIncrease", position, levels)]
    return []


@dataclass
class _Sensor:
    """The temperature of a vehicle."""

    newest: datetime = EPOCH
    out_since: datetime | None = None
    is_told: bool = False

    def events(self, position: Stored) -> list[Made]:
        """Return the event of the next position that became the latest."""
        time = position.device_time if position.is_repeated else position.fix_time
        if time < self.newest:
            return []
        self.newest = time
        value = position.attributes.get("temp1")
        if value is None:
            return []
        limits = {
            field: position.settings.get(f"sensorLimit.temp1.{field}")
            for field in ("min", "max", "hysteresis", "minimalDuration")
        }
        least, most = limits["min"], limits["max"]
        low, high = -1e9 if least is None else least, 1e9 if most is None else most
        margin = limits["hysteresis"] or 0.0
        told = {"sensor": "temp1", "value": value}
        if self.is_told:
            if low + margin <= value <= high - margin:
                self.out_since, self.is_told = None, False
                return [_made("sensorInRange", position, told)]
        elif low <= value <= high:
            self.out_since = None
        else:
            self.out_since = self.out_since or time
            if (time - self.out_since).total_seconds() >= (limits["minimalDuration"] or 0.0):
                self.is_told = True
                return [_made("sensorOutOfRange", position, {**told, "limit": high if value > high else low})]
        return []


def _rules(settings: dict[str, Any]) -> brute_force.Rules:
    return brute_force.Rules(
        distance=settings.get("report.trip.minDistance", brute_force.MIN_DISTANCE),
        duration=settings.get("report.trip.minDuration", brute_force.MIN_DURATION),
    )


def _motions(located: Sequence[Stored], follower: brute_force.Follower) -> list[Made]:
    """Return the starts and stops."""
    return [
        Made(
            "deviceMoving" if moving else "deviceStopped",
            located[place].fix_time,
            located[place].index,
            attributes={},
        )
        for moving, place, _ in follower.turns
    ]


def _point(position: Stored, now: datetime) -> brute_force.Point:
    return brute_force.Point(
        time=position.fix_time,
        latitude=position.latitude,
        longitude=position.longitude,
        speed=position.speed,
        number=position.index,
        attributes=position.attributes,
        valid=position.report.valid,
        ahead=max(0.0, (position.fix_time - now).total_seconds()),
    )


def check_pair(
    reports: Sequence[tuple[str, Report]], *, enter: float, leave: float, alone: float
) -> list[tuple[str, str, datetime]]:
    """Work out the events of two vehicles that are linked to each other, as vehicle, type and time.

    Each report arrives after those before it. `enter`, `leave` and `alone` are the distances in metres of
    coming close, of moving away, and of moving unaccompanied.
    """
    latest: dict[str, Report] = {}
    near: dict[str, bool] = {}
    found = []
    for number, report in reports:
        before, others = latest.get(number), [each for name, each in latest.items() if name != number]
        latest[number] = report
        for other in others:
            apart = _metres(report.latitude, report.longitude, other.latitude, other.longitude)
            was, near[number] = near.get(number), apart <= (leave if near.get(number) else enter)
            if was is not None and was != near[number]:
                found.append((number, "proximityEnter" if near[number] else "proximityExit", report.time))
            starts = before is not None and before.speed <= 0.01 < report.speed
            if starts and apart > alone:
                found.append((number, "unaccompaniedMotion", report.time))
    return found


def _made(
    kind: str,
    position: Stored,
    attributes: dict[str, Any] | None = None,
    *,
    fence: str = "",
    service: str = "",
) -> Made:
    return Made(kind, position.device_time, position.index, attributes or {}, fence, service)


def _is_open(time: datetime) -> bool:
    return time.weekday() < 5 and OFFICE[0] <= time.hour < OFFICE[1]


def _by_id(names: Sequence[str], position: Stored) -> list[str]:
    """Return those of the geofences that are the vehicle's and open, in the order in which they were made."""
    return [
        fence.name
        for fence in FENCES
        if fence.name in names
        and fence.name in position.applicable
        and (not fence.office_hours or _is_open(position.fix_time))
    ]


def _fence(name: str) -> Fence:
    return next(fence for fence in FENCES if fence.name == name)


def _metres(latitude: Any, longitude: Any, to_latitude: Any, to_longitude: Any) -> Any:
    """Great-circle distance; of arrays as well."""
    phi, psi = np.radians(latitude), np.radians(to_latitude)
    turned = np.sin((psi - phi) / 2) ** 2
    turned += np.cos(phi) * np.cos(psi) * np.sin(np.radians(to_longitude - longitude) / 2) ** 2
    found = 2 * 6_378_137 * np.arcsin(np.minimum(1.0, np.sqrt(turned)))
    return float(found) if np.isscalar(latitude) and np.isscalar(to_latitude) else found


def _contains(fence: Fence, latitude: float, longitude: float) -> bool:
    """Whether a point lies in an area."""
    depth = _depths(fence, np.array([latitude]), np.array([longitude]))[0]
    if fence.kind == "LINESTRING" and abs(depth) < 20:
        depth = fence.metres - min(
            # Each point of an edge counts; between two of these lies less than a metre.
            float(np.min(_metres(*(one + (np.array(other) - one) * _SHARES).T, latitude, longitude)))
            for one, other in ((np.array(one), other) for one, other in pairwise(fence.rings[0]))
        )
    if abs(depth) < MARGIN:
        raise Ambiguous(fence.name, latitude, longitude)
    return bool(depth > 0)


_SHARES = np.linspace(0, 1, 12_000)[:, None]


def _depths(fence: Fence, latitudes: Any, longitudes: Any) -> Any:
    """Metres by which each of some points lies inside an area, negative outside.

    Of a corridor they are measured on a plane; of a polygon they are infinite.
    """
    if fence.kind == "CIRCLE":
        ((centre,),) = fence.rings
        return fence.metres - _metres(*centre, latitudes, longitudes)
    if fence.kind == "POLYGON":
        crossings = np.zeros(len(latitudes))
        for ring in fence.rings:
            for (y1, x1), (y2, x2) in pairwise((*ring, ring[0])):
                if y1 != y2:
                    spans = (y1 > latitudes) != (y2 > latitudes)
                    crossings += spans & (longitudes < x1 + (latitudes - y1) * (x2 - x1) / (y2 - y1))
        return np.where(crossings % 2 == 1, np.inf, -np.inf)
    nearest = np.full(len(latitudes), np.inf)
    east = np.cos(np.radians(latitudes))
    for (y1, x1), (y2, x2) in pairwise(fence.rings[0]):
        y, x = y1 - latitudes, (x1 - longitudes) * east
        north, right = y2 - y1, (x2 - x1) * east
        share = np.clip(-(y * north + x * right) / (north**2 + right**2), 0, 1)
        nearest = np.minimum(nearest, np.hypot(y + north * share, x + right * share) * DEGREE)
    return fence.metres - nearest


def _crosses(fence: Fence, last: Stored, position: Stored) -> bool:
    """Whether the straight way leads through an area in which neither end lies."""
    if (last.latitude, last.longitude) == (position.latitude, position.longitude):
        return False
    if fence.name in position.fences or _contains(fence, last.latitude, last.longitude):
        return False
    along = np.linspace(0, 1, CHORD_POINTS)
    latitudes = last.latitude + (position.latitude - last.latitude) * along
    longitudes = last.longitude + (position.longitude - last.longitude) * along
    depth = float(np.max(_depths(fence, latitudes, longitudes)))
    # The server measures on a plane that touches the centre: near by that is exact to a thousandth.
    if abs(depth) < fence.metres / 1_000 + MARGIN:
        raise Ambiguous(fence.name, depth)
    return depth > 0
