"""Trips, stops and distances worked out from raw positions, slowly and by themselves (docs/events.md#motion,
docs/reports.md#distance).

Nothing of `actors/` is imported: this is what it is checked against. Each position is judged from all those
before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from math import asin, cos, inf, radians, sin, sqrt
from typing import Any

MIN_DISTANCE, MIN_DURATION, STOP_GAP, FASTEST = 200.0, 180.0, 3600.0, 162.0
MOVING = 1.8
"""Knots."""
KNOT = 1852 / 3600
BRAKES = 1.5
"""Metres a second squared."""
USUAL = 8.0
"""Metres a second."""


@dataclass(frozen=True)
class Point:
    """A raw position."""

    time: datetime
    latitude: float
    longitude: float
    speed: float = 0.0
    """Knots."""
    number: int = 0
    """Higher than that of each one before it."""
    attributes: dict[str, Any] = field(default_factory=dict)
    valid: bool = True
    ahead: float = 0.0
    """Seconds that the clock of the device was ahead."""

    @property
    def is_moving(self) -> bool:
        return self.speed >= MOVING

    @property
    def ignition(self) -> bool | None:
        return self.attributes.get("ignition")

    @property
    def is_nowhere(self) -> bool:
        return not self.valid and self.latitude == self.longitude == 0


@dataclass(frozen=True)
class Interval:
    """A trip or a stop."""

    moving: bool
    start: Point
    end: Point
    top_speed: float
    steps: tuple[tuple[datetime, float], ...]
    """Fix times of its positions, and metres that each adds to the distance; also of a stop."""

    @property
    def distance(self) -> float:
        """Metres; a stop has none."""
        return sum(metres for _, metres in self.steps) if self.moving else 0.0


@dataclass(frozen=True)
class Rules:
    """The settings."""

    distance: float = MIN_DISTANCE
    duration: float = MIN_DURATION
    fastest: float = FASTEST


DEFAULTS = Rules()


def metres(one: Point, other: Point) -> float:
    phi, psi = radians(one.latitude), radians(other.latitude)
    turned = sin((psi - phi) / 2) ** 2
    turned += cos(phi) * cos(psi) * sin(radians(other.longitude - one.longitude) / 2) ** 2
    return 2 * 6_378_137 * asin(min(1.0, sqrt(turned)))


def seconds(one: Point, other: Point) -> float:
    return (other.time - one.time).total_seconds()


def can_reach(one: Point, other: Point, fastest: float) -> bool:
    """Whether a step is possible."""
    most = max(fastest, 1.5 * max(one.speed, other.speed)) * KNOT * abs(seconds(one, other))
    return metres(one, other) <= max(300.0, most)


class Follower:
    """Says of each position what it is, and where the device started and stopped."""

    def __init__(self, rules: Rules = DEFAULTS) -> None:
        self.rules = rules
        self.kinds: list[str] = []
        """`next`, `jump` (there, without having come there), `ignored` or `implausible`."""
        self._machine = _Machine(rules)
        self._points: list[Point] = []
        self._seen: list[int] = []
        self._last: Point | None = None
        self._doubts: list[Point] = []
        """Implausible positions since the last that was not."""
        self._unsure: Point | None = None
        """The last position, if it alone shows a start."""

    @property
    def turns(self) -> list[tuple[bool, int, int]]:
        """Where it started (True) and stopped, and where that was seen, as indices."""
        places = {id(point): index for index, point in enumerate(self._points)}
        found = zip(self._machine.found, self._seen, strict=True)
        return [(is_moving, places[id(point)], at) for (is_moving, point), at in found]

    def take(self, point: Point) -> str:
        """Continue with a position; return its kind."""
        self._points.append(point)
        self.kinds.append(self._kind(point))
        if self.kinds[-1] == "implausible":
            self._doubts.append(point)
            self._machine.doubtful = point
        elif self.kinds[-1] != "ignored":
            if self._unsure is not None and not self._is_back(point):
                self._machine.take(self._unsure, is_sure=True)
            self._unsure = None if self._machine.take(point) else point
            self._last, self._doubts = point, []
        self._seen += [len(self._points) - 1] * (len(self._machine.found) - len(self._seen))
        return self.kinds[-1]

    def _kind(self, point: Point) -> str:
        last, doubts, fastest = self._last, self._doubts, self.rules.fastest
        if last is None:
            return "ignored" if point.is_nowhere else "next"
        is_near = fastest == 0 or can_reach(last, point, fastest)
        if fastest:
            agrees = bool(doubts) and can_reach(doubts[-1], point, fastest)
            is_at_home = self._is_back(point) and can_reach(self._machine.track[-1], point, fastest)
            has_wrong_time = point.ahead > last.ahead + 60 and len(doubts) < 10
            if has_wrong_time or not (is_near or agrees or is_at_home):
                return "implausible"
        if point.is_nowhere or (not point.valid and _says_nothing(point, last, self.rules)):
            return "ignored"
        return "next" if is_near else "jump"

    def _is_back(self, point: Point) -> bool:
        """Whether the start that the last position alone shows was none."""
        if self._unsure is None or seconds(self._unsure, point) >= 10 * self.rules.duration:
            return False
        return metres(self._machine.place, point) < self.rules.distance


def follow(points: Sequence[Point], rules: Rules = DEFAULTS) -> Follower:
    """Return a follower of these positions."""
    follower = Follower(rules)
    for point in points:
        follower.take(point)
    return follower


def _says_nothing(point: Point, last: Point, rules: Rules) -> bool:
    is_same = (point.latitude, point.longitude) == (last.latitude, last.longitude)
    if is_same and point.ignition is not None:
        return point.ignition
    return last.valid and seconds(last, point) < 10 * rules.duration


class _Machine:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.found: list[tuple[bool, Point]] = []
        self.moving = False
        self.track: list[Point] = []
        self.doubtful: Point | None = None
        """The position before, if it was implausible."""

    def take(self, point: Point, *, is_sure: bool = False) -> bool:
        """Continue with a position; return False if it was not taken, since it alone shows a start."""
        rules, found = self.rules, self.found
        if not self.track:
            self.track, self.first, self.place = [point], point, point
            return True
        doubtful, self.doubtful = self.doubtful, None
        if doubtful is not None and self._is_wrong(doubtful, point):
            self.track = self.track[:-1]
        turned = found[-1][1] if found else self.first
        before, gap = self.track[-1], seconds(self.track[-1], point)
        if rules.fastest and not can_reach(before, point, rules.fastest):
            # It stands there, or after all where it stopped.
            self.track = [point]
            self.place = turned if metres(turned, point) < rules.distance else point
            return True
        way = metres(before, point)
        if gap > STOP_GAP and way >= rules.distance and way * rules.duration > rules.distance * gap:
            if not self.moving or before.time >= turned.time:
                found += [(False, before)] * self.moving + [(True, before)]
            self.moving, self.place, self.track = True, point, [point]
            return True
        earlier, self.track = self.track, _recent([*self.track, point], rules, is_on_trip=self.moving)
        if self.moving:
            stop = _stop(self.track, turned, rules)
            if stop is None:
                return True
            found.append((False, stop))
            self.moving, self.place = False, stop
        if metres(self.place, point) >= rules.distance and _has_left(self.track, self.place, rules):
            was_there = metres(self.place, before) < rules.distance
            if was_there and rules.duration <= gap < 10 * rules.duration and not is_sure:
                self.track, self.doubtful = earlier, None
                return False
            found.append((True, _start(self.track, self.place, rules)))
            self.moving = True
        return True

    def _is_wrong(self, doubtful: Point, point: Point) -> bool:
        """Whether not the doubtful position but the one before it was wrong."""
        fastest = self.rules.fastest
        if len(self.track) < 2 or not fastest or not can_reach(doubtful, point, fastest):
            return False
        before, last = self.track[-2:]
        is_nearer = metres(before, last) > 2 * metres(before, doubtful)
        return is_nearer and can_reach(before, doubtful, fastest)


def _recent(track: list[Point], rules: Rules, *, is_on_trip: bool) -> list[Point]:
    """Those positions that still count, and the one before them."""
    point, before = track[-1], track[-2]

    def counts(each: Point) -> bool:
        age, is_near = seconds(each, before), metres(each, point) < rules.distance
        return age < 2 * rules.duration or (is_on_trip and is_near and age < 10 * rules.duration)

    # The first one is there because the next one counts.
    return track[next(k for k in range(1, len(track)) if counts(track[k])) - 1 :]


def _stop(track: Sequence[Point], start: Point, rules: Rules) -> Point | None:
    """The position at which a stop began that is seen at the last one; the trip began at `start`."""
    since, point, before = start.time, track[-1], track[-2]
    gap = seconds(before, point)
    resting, until = list(track), point.time
    if point.is_moving or _is_past(before, point, rules):
        resting, until = list(track[:-1]), _until(track, rules, 1.5)
    is_short = (point.time - max(track[0].time, since)).total_seconds() < 10 * rules.duration
    has_just_moved = any(
        each.is_moving and metres(each, point) >= rules.distance / 10
        for each in track
        if seconds(each, point) < rules.duration
    )
    if is_short and has_just_moved and 2 * gap < rules.duration:
        return None
    first = None if resting[-1].time < since else _rest(resting, until, since, rules)
    if first is None:
        return None
    is_there = _place(resting[first:], rules)
    begin = next((k for k in range(first, len(resting)) if is_there(resting[k])), first)
    if begin > 0 and resting[begin - 1].time > since:
        silence = seconds(resting[begin - 1], resting[begin])
        came = _time_of_way(resting[begin - 1], resting[begin])
        is_near = metres(resting[begin - 1], resting[begin]) < rules.distance
        if is_near and silence >= rules.duration / 2 and came < silence - came:
            begin -= 1
    if (until - resting[begin].time).total_seconds() < rules.duration:
        return None
    return start if resting[begin].time == since else resting[begin]


def _is_past(before: Point, point: Point, rules: Rules) -> bool:
    """Whether a silence ends elsewhere, in most of which the device rested."""
    gap, way = seconds(before, point), metres(before, point)
    is_silence = gap >= rules.duration and way >= rules.distance / 4
    return is_silence and way / gap < 2 * rules.distance / rules.duration


def _rest(track: Sequence[Point], until: datetime, since: datetime, rules: Rules) -> int | None:
    """The index of the first position of a rest that goes on from the last until `until`."""
    last = len(track) - 1

    def lasted(index: int) -> float:
        return (until - track[index].time).total_seconds()

    reach = last
    while reach and track[reach - 1].time >= since and _extent(track[reach - 1 :]) < rules.distance:
        reach -= 1
    found = None
    for index in range(last, reach - 1, -1):
        if _is_rest(track, index, until, rules):
            found = index
        elif found is None and lasted(index) >= 10 * rules.duration and index < last:
            return reach
        is_apart = _extent(track[index:]) > rules.distance / 10
        if found is not None and track[index].is_moving and index < last and is_apart:
            return found
    return found


def _is_rest(track: Sequence[Point], index: int, until: datetime, rules: Rules) -> bool:
    part = track[index:]
    first, following = part[0], part[1:]
    lasted = (until - first.time).total_seconds()
    if not following:
        return lasted >= rules.duration
    silence, way = seconds(first, following[0]), metres(first, following[0])
    if silence >= rules.duration and way / silence <= rules.distance / 4 / rules.duration:
        return True
    if lasted >= rules.duration and all(each.ignition is False for each in part):
        return True
    has_stood = not any(each.is_moving for each in following)
    if first.is_moving and has_stood:
        lasted -= _time_of_way(first, following[0])
        part = following if _extent(part) > rules.distance / 10 else part
    if lasted < rules.duration:
        return False
    extent = _extent(part)
    if extent <= rules.distance / 10:
        return True
    if not has_stood:
        return False
    marks = [part[-1]]
    for each in reversed(part):
        if seconds(each, marks[-1]) >= rules.duration / 4:
            marks.append(each)
    along = sum(metres(one, other) for one, other in pairwise(marks))
    return (
        lasted >= rules.duration * extent / (rules.distance / 4) and metres(marks[0], marks[-1]) < 0.6 * along
    )


def _is_by_distance(track: Sequence[Point], rules: Rules) -> bool:
    """Whether the silence before the last position ends a step as long as the two before it."""
    if len(track) < 4:
        return False
    before, point = track[-2:]
    way = metres(before, point)
    if way < rules.distance / 4 * 0.85 or seconds(before, point) > 3 * rules.duration:
        return False
    if not before.is_moving and any(each.is_moving for each in track):
        return False
    if any(metres(one, other) < 0.2 * seconds(one, other) for one, other in pairwise(track[:-1])):
        return False
    return all(abs(metres(one, other) - way) <= 0.15 * way for one, other in pairwise(track[-4:-1]))


def _is_tunnel(track: Sequence[Point], rules: Rules) -> bool:
    """Whether the silence before the last position is a drive, by the ignition."""
    before, point = track[-2:]
    step = metres(track[-3], before) if len(track) > 2 else 0.0
    far = 2 * rules.distance + 2 * max(rules.distance, step)
    return before.ignition is True and point.ignition is True and metres(before, point) >= far


def _extent(part: Sequence[Point]) -> float:
    """The longer side of the box around positions."""
    south, north = min(p.latitude for p in part), max(p.latitude for p in part)
    west, east = min(p.longitude for p in part), max(p.longitude for p in part)
    now, middle = part[-1].time, part[-1].latitude
    return max(
        metres(Point(now, south, west), Point(now, north, west)),
        metres(Point(now, middle, west), Point(now, middle, east)),
    )


def _place(part: Sequence[Point], rules: Rules, most: float = inf) -> Callable[[Point], bool]:
    """Whether a position is where the device rested most of the time that `part` took, if within `most`."""
    tick = timedelta(milliseconds=1)
    weights = []
    for index in range(len(part)):
        earlier, later = part[max(0, index - 1)], part[min(len(part) - 1, index + 1)]
        weights.append((later.time - earlier.time) // tick + 1)

    def median(values: Sequence[float]) -> float:
        below = 0
        for value, weight in sorted(zip(values, weights, strict=True)):
            below += weight
            if 2 * below >= sum(weights):
                return value
        raise AssertionError

    middle = Point(part[0].time, median([p.latitude for p in part]), median([p.longitude for p in part]))
    radius = max(rules.distance / 20, 3 * median([metres(middle, point) for point in part]))
    return lambda point: not point.is_moving and metres(middle, point) <= radius <= most


def _has_left(track: Sequence[Point], anchor: Point, rules: Rules) -> bool:
    point, before = track[-1], track[-2]
    if point.is_moving:
        return True
    if seconds(before, point) >= rules.duration and not _is_past(before, point, rules):
        return True
    if metres(anchor, point) >= 2 * rules.distance and metres(anchor, before) >= rules.distance:
        return True
    away = []
    for each in reversed(track):
        if metres(anchor, each) < rules.distance:
            break
        away.append(each)
    return seconds(away[-1], point) >= rules.duration / 2


def _start(track: Sequence[Point], anchor: Point, rules: Rules) -> Point:
    """The position at which a trip began that is seen at the last one; the device stood since `anchor`."""
    last = len(track) - 1
    stood = [k for k in range(last) if track[k].time > anchor.time]
    end = None
    for index in reversed(stood):
        until = _until(track[: index + 2], rules)
        first = _rest(track[: index + 1], until, anchor.time, rules)
        if first is not None:
            is_there = _place(track[first : index + 1], rules)
            end = max([first, *(k for k in range(first, index + 1) if is_there(track[k]))])
            break
    if end is None:
        end = max((k for k in range(last) if track[k].time <= anchor.time), default=0)
    is_there = _place([p for p in track[:last] if not p.is_moving] or track, rules, rules.distance / 2)
    end = max([end, *(k for k in range(end + 1, last) if is_there(track[k]))])
    way = _time_of_way(track[end + 1], track[end])
    if way < rules.duration and way < seconds(track[end], track[end + 1]) - way:
        end += 1
    elif not track[end].valid and metres(track[end], track[end + 1]) >= 10 * rules.distance:
        while end > 0 and not track[end].valid and track[end - 1].time > anchor.time:
            end -= 1
    ends = [k for k in range(end, last) if seconds(anchor, track[k]) >= rules.duration]
    return track[min(ends, default=last)]


def _until(track: Sequence[Point], rules: Rules, detour: float = 1.0) -> datetime:
    """When the device left the last position but one to come to the last."""
    resting, moving = track[-2:]
    is_silence = seconds(resting, moving) >= rules.duration
    if is_silence and (_is_tunnel(track, rules) or _is_by_distance(track, rules)):
        return resting.time
    return max(resting.time, moving.time - timedelta(seconds=detour * _time_of_way(moving, resting)))


def _time_of_way(moving: Point, resting: Point) -> float:
    """Seconds from one to the other, at the speed of the moving one and with the time that it brakes."""
    speed = moving.speed * KNOT if moving.is_moving else USUAL
    way, braking = metres(moving, resting), speed**2 / (2 * BRAKES)
    if way < braking:
        return 2 * way / speed
    return (way - braking) / speed + speed / BRAKES


def steps(
    points: Sequence[Point], kinds: Sequence[str], rules: Rules = DEFAULTS
) -> tuple[list[float], dict[int, int], dict[int, int]]:
    """Metres that each position adds to the way from the first on; `kinds` are those of `Follower`.

    Also where it was seen that doubtful ones count after all, and that some do not that had counted.
    """
    found = [0.0] * len(points)
    late: dict[int, int] = {}
    wrong: dict[int, int] = {}
    counted: list[int] = []
    """Since the last position that counted, which is the first."""
    doubtful = counts = False
    for index, (point, kind) in enumerate(zip(points, kinds, strict=True)):
        if kind in {"implausible", "ignored"}:
            continue
        if (
            counted
            and points[counted[0]].valid
            and not point.valid
            and seconds(points[counted[0]], point) < 86_400
        ):
            continue
        if doubtful:
            mark, far = points[counted[0]], points[counted[-1]]
            back = metres(far, point)
            if back <= fastest_way([far, point]) + 100 or back <= metres(mark, point):
                if not counts:
                    found[counted[-1]] = counting(points, counted)
                    late[counted[-1]] = index
                counted = counted[-1:]
            elif counts:
                wrong[counted[-1]] = index
            doubtful = counts = False
        if not counted or (rules.fastest and not can_reach(points[counted[0]], point, rules.fastest)):
            counted = [index]
            continue
        counted.append(index)
        since = [points[each] for each in counted]
        way = metres(since[0], point)
        is_fast = any(each.is_moving for each in (since[0], since[-2], point))
        if way < (15 if is_fast else 30):
            continue
        counts = seconds(since[-2], point) > 1800
        doubtful = counts or way > 2 * usual_way(since) + 100
        if counts or not doubtful:
            found[index] = counting(points, counted)
        if not doubtful:
            counted = [index]
    return found, late, wrong


def usual_way(points: Sequence[Point]) -> float:
    """Metres by the speeds that were reported."""
    return sum(seconds(one, other) * (one.speed + other.speed) / 2 * KNOT for one, other in pairwise(points))


def fastest_way(points: Sequence[Point]) -> float:
    """Metres with the acceleration that is possible between them."""
    return usual_way(points) + sum(0.4 * seconds(one, other) ** 2 for one, other in pairwise(points))


def counting(points: Sequence[Point], counted: Sequence[int]) -> float:
    """Metres that the last of the positions adds to the first."""
    way = metres(points[counted[0]], points[counted[-1]])
    if points[counted[0]].is_moving or points[counted[-1]].is_moving:
        way = min(way, fastest_way([points[each] for each in counted]))
    return round(way, 2)


def intervals(
    points: Sequence[Point], start: datetime, end: datetime, rules: Rules = DEFAULTS
) -> list[Interval]:
    """What an unbroken machine that began with the first point knows at `end`, cut at both times."""
    points = [point for point in points if point.time <= end]
    follower = follow(points, rules)
    kinds, edges = follower.kinds, [(False, 0, 0), *follower.turns]
    shown = [
        k
        for k, point in enumerate(points)
        if point.time >= start and kinds[k] != "implausible" and not point.is_nowhere
    ]
    if not shown:
        return []
    # Distance is measured from the first position of the span on.
    begin = shown[0]
    along_steps, late, wrong = steps(points[begin:], kinds[begin:], rules)
    added = [0.0] * begin + along_steps
    known = {begin + index: begin + at for index, at in late.items()}
    taken_back = {begin + index: begin + at for index, at in wrong.items()}
    found = []
    for (moving, one, _), (_, other, seen) in pairwise([*edges, (False, shown[-1], len(points))]):
        begins, ends = max(one, shown[0]), max(other, shown[0])
        if begins < ends:
            top = max(points[k].speed for k in shown if begins <= k <= ends)
            along = tuple(
                # What a trip came along is known when its end is seen.
                (points[k].time, added[k] if known.get(k, 0) <= seen < taken_back.get(k, inf) else 0.0)
                for k in range(begins if moving else begins + 1, ends + 1)
            )
            found.append(Interval(moving, points[begins], points[ends], top, along))
    return found
