"""What the vehicles of a small fleet send, in the order in which it arrives, and what is changed meanwhile.

The same seed gives the same days. Nothing of the server is imported: `event_checker` works out from this what
the server has to say of it.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import cos, radians
from typing import Any

MONDAY = datetime(2026, 4, 20, 5, 0, tzinfo=UTC)
ROLLOVER = timedelta(weeks=1024)
FAR = timedelta(days=2_000)
"""How far a clock is ahead that is altogether wrong."""
KNOT = 1852 / 3600
DEGREE = 111_319.49
"""Metres of a degree of latitude."""


@dataclass(frozen=True)
class Report:
    """A message of a vehicle."""

    time: datetime
    """As the vehicle means it: before a week rollover."""
    latitude: float | None = None
    """None: a message without a location."""
    longitude: float | None = None
    speed: float = 0.0
    """Knots."""
    valid: bool = True
    attributes: dict[str, Any] = field(default_factory=dict)
    sent_time: datetime | None = None
    """As it stands in the message; None: the same as `time`."""

    def query(self, number: str) -> dict[str, str]:
        """The parameters of an OsmAnd request."""
        found = {"id": number, "timestamp": str(round((self.sent_time or self.time).timestamp()))}
        if self.latitude is not None:
            found |= {"lat": repr(self.latitude), "lon": repr(self.longitude), "speed": repr(self.speed)}
            found |= {} if self.valid else {"valid": "false"}
        for name, value in self.attributes.items():
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
        return found


@dataclass(frozen=True)
class Change:
    """An administrator changes a vehicle between two of its messages."""

    attributes: dict[str, Any]
    group: str = ""


@dataclass(frozen=True)
class Fence:
    """A geofence, with the names of the vehicles and groups that it is linked to."""

    name: str
    kind: str
    """`CIRCLE`, `POLYGON` or `LINESTRING`."""
    rings: tuple[tuple[tuple[float, float], ...], ...]
    """Latitude and longitude: the centre, the rings, or the line."""
    metres: float = 0.0
    """Radius, or half width of a corridor."""
    speed_limit: float = 0.0
    office_hours: bool = False
    vehicles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def area(self) -> str:
        """Well-known text."""
        texts = [
            ", ".join(f"{latitude!r} {longitude!r}" for latitude, longitude in ring) for ring in self.rings
        ]
        match self.kind:
            case "CIRCLE":
                return f"CIRCLE ({texts[0]}, {self.metres!r})"
            case "LINESTRING":
                return f"LINESTRING ({texts[0]})"
        return "POLYGON (" + ", ".join(f"({text})" for text in texts) + ")"

    @property
    def attributes(self) -> dict[str, float]:
        """Those of the API."""
        found = {"speedLimit": self.speed_limit} if self.speed_limit else {}
        return found | ({"polylineDistance": self.metres} if self.kind == "LINESTRING" else {})


@dataclass(frozen=True)
class Service:
    """A maintenance of all vehicles."""

    name: str
    type: str
    start: float
    period: float


@dataclass(frozen=True)
class Vehicle:
    """A vehicle, and what happens to it."""

    number: str
    steps: tuple[Report | Change, ...]
    attributes: dict[str, Any]
    group: str = ""
    office_hours: bool = False
    """Whether it has the calendar of the office: what it sends at other times is dropped."""


GROUPS: dict[str, dict[str, Any]] = {"north": {"speedLimit": 45.0}, "south": {"speedLimit": 60.0}}
"""Name -> attributes."""
HOME = {"van": "north", "bus": "south", "cab": "north"}
"""The groups of vehicles at first."""
OFFICE = (6, 18)
"""Hours of Monday to Friday, UTC, in which the calendar is open."""
CALENDAR = "\r\n".join(
    (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//test//week//EN",
        "BEGIN:VEVENT",
        "UID:office@example.org",
        "DTSTAMP:20260101T000000Z",
        "DTSTART:20260105T060000Z",
        "DTEND:20260105T180000Z",
        "RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        "SUMMARY:Office",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    )
)
NUMBERS = ("van", "bus", "car", "cab", "tug")
FENCES = (
    Fence("depot", "CIRCLE", (((52.0, 13.0),),), 450.0, vehicles=NUMBERS),
    Fence(
        "town",
        "POLYGON",
        (
            ((52.05, 12.95), (52.05, 13.06), (52.13, 13.08), (52.14, 12.96)),
            ((52.08, 12.99), (52.08, 13.03), (52.11, 13.03), (52.11, 12.99)),
        ),
        speed_limit=30.0,
        vehicles=NUMBERS,
    ),
    Fence(
        "road",
        "LINESTRING",
        (((52.0, 12.99), (52.06, 13.02), (52.1, 13.01), (52.2, 13.05)),),
        260.0,
        speed_limit=50.0,
        office_hours=True,
        vehicles=("van", "bus", "cab"),
    ),
    Fence("park", "CIRCLE", (((52.18, 13.04),),), 2500.0, groups=("north",)),
    Fence("lake", "CIRCLE", (((52.1, 13.0),),), 3500.0, speed_limit=38.0, groups=("south",)),
    Fence("gate", "CIRCLE", (((52.04, 13.01),),), 350.0, office_hours=True, vehicles=NUMBERS),
)
SERVICES = (
    Service("oil", "totalDistance", 5_000, 20_000),
    Service("engine", "hours", 1_800_000, 3_600_000),
    Service("tyres", "odometer", 100, 50),
)
SETTINGS: dict[str, dict[str, Any]] = {
    "van": {
        "speedLimit": 55.0,
        "event.overspeed.minimalDuration": 45.0,
        "fuelDropThreshold": 5.0,
        "sensorLimit.temp1.max": 6.0,
        "sensorLimit.temp1.hysteresis": 1.0,
        "sensorLimit.temp1.minimalDuration": 90.0,
    },
    "bus": {
        "event.geofence.segmentCrossing": True,
        "event.overspeed.preferLowest": True,
        "fuelIncreaseThreshold": 8.0,
        "fuelDropThreshold": 5.0,
        "processing.copyAttributes": "driverUniqueId",
    },
    "car": {
        "filter.duplicate": True,
        "filter.maxSpeed": 200.0,
        "event.behavior.accelerationThreshold": 0.4,
        "event.behavior.brakingThreshold": 0.5,
    },
    "cab": {
        "event.geofence.segmentCrossing": True,
        "event.overspeed.thresholdMultiplier": 1.2,
        "filter.invalid": True,
        "event.ignoreDuplicateAlerts": False,
    },
    "tug": {
        "report.trip.minDistance": 500.0,
        "report.trip.minDuration": 300.0,
        "speedLimit": 40.0,
        "sensorLimit.temp1.min": 2.0,
        "sensorLimit.temp1.max": 7.0,
    },
}


class _Driver:
    """Drives a vehicle from place to place, and reports."""

    def __init__(self, number: str, seed: int, begin: datetime) -> None:
        self.number = number
        self.chance = random.Random(f"{number} {seed}")
        self.now = begin
        self.latitude, self.longitude = 52.0, 13.0
        self.speed = 0.0
        self.fuel, self.odometer = 60.0, 80.0
        self.cold, self.temperature = random.Random(f"cold {number} {seed}"), 5.0
        self.ahead = timedelta(0)
        """How far the clock of the vehicle is wrong."""
        self.rolled_over = False
        self.steps: list[Report | Change] = []

    def drive(self, latitude: float, longitude: float, knots: float) -> None:
        """Go to a place in a straight line."""
        while True:
            seconds = self.chance.choice((20, 30, 45, 60))
            north = (latitude - self.latitude) * DEGREE
            east = (longitude - self.longitude) * DEGREE * cos(radians(latitude))
            left, step = (north**2 + east**2) ** 0.5, knots * KNOT * seconds
            self.now += timedelta(seconds=seconds)
            share = min(1.0, step / left) if left else 1.0
            self.latitude += (latitude - self.latitude) * share
            self.longitude += (longitude - self.longitude) * share
            self.speed = 0.0 if share == 1.0 else max(1.0, knots + self.chance.uniform(-6, 6))
            self.odometer += step / 1000
            self.report(ignition=True)
            if share == 1.0:
                return

    def stand(self, minutes: float, reports: int) -> None:
        """Stay, with the engine off but for a moment."""
        self.speed = 0.0
        for _ in range(reports):
            self.now += timedelta(minutes=minutes / reports)
            self.report(ignition=self.chance.random() < 0.1)

    def report(self, **attributes: Any) -> None:
        """Send a message; now and then another one, or an odd one."""
        chance = self.chance
        self.fuel = round(self.fuel - chance.uniform(0, 0.2), 2)
        if chance.random() < 0.03:
            self.fuel = round(self.fuel + chance.choice((-1, 1.5)) * chance.uniform(3, 9), 2)
        attributes |= {"fuel": self.fuel, "odometer": round(self.odometer, 3)}
        self.temperature = round(min(9.0, max(0.0, self.temperature + self.cold.uniform(-1.5, 1.5))), 1)
        if self.cold.random() < 0.8:
            attributes["temp1"] = self.temperature
        if chance.random() < 0.05:
            attributes["alarm"] = chance.choice(("sos", "sos,tow", "vibration", "hardBraking"))
        if chance.random() < 0.06:
            attributes["driverUniqueId"] = chance.choice(("ann", "ben"))
        if chance.random() < 0.02:
            attributes["image"] = f"{len(self.steps)}.jpg"
        if chance.random() < 0.02:
            attributes["result"] = "done"
        if chance.random() < 0.05:
            attributes["speedLimit"] = chance.choice((25, 80))
        if chance.random() < 0.04:
            self.odometer = 0.0  # a counter without a reading
        self.send(self._made(attributes))
        odd = chance.random()
        if odd < 0.03:
            self._send_unlocated(attributes)
        elif odd < 0.06:
            back = timedelta(seconds=chance.choice((70, 400, 4_000, 90_000)))
            self.send(self._made({**attributes, "alarm": "late"}, back=back))
        elif odd < 0.08:
            self.send(self._made(attributes))
        elif odd < 0.09 and self.number != "cab":  # whose calendar the server knows for some years only
            self.send(self._made(attributes, back=-FAR))
        elif odd < 0.11:
            self.send(self._made(attributes, jump=0.5))

    def _send_unlocated(self, attributes: dict[str, Any]) -> None:
        time = self._clock() + timedelta(seconds=5)
        self.send(Report(time, attributes={**attributes, "alarm": "powerCut"}, sent_time=self._sent(time)))

    def _made(self, attributes: dict[str, Any], *, back: timedelta = timedelta(0), jump: float = 0) -> Report:
        time = self._clock() - back
        return Report(
            time,
            round(self.latitude + jump + self.chance.uniform(-4, 4) / DEGREE, 6),
            round(self.longitude, 6),
            round(self.speed, 2),
            valid=not jump and self.chance.random() > 0.02,
            attributes=dict(attributes),
            sent_time=self._sent(time) if back != -FAR else None,
        )

    def _clock(self) -> datetime:
        return (self.now + self.ahead).replace(microsecond=0)

    def _sent(self, time: datetime) -> datetime | None:
        return time - ROLLOVER if self.rolled_over else None

    def send(self, step: Report | Change) -> None:
        """Put it at the end."""
        self.steps.append(step)


PLACES = (
    (52.0, 13.0),
    (52.03, 13.02),
    (52.06, 12.97),
    (52.095, 13.01),
    (52.12, 13.05),
    (52.16, 13.03),
    (52.2, 13.05),
    (52.04, 12.93),
)


def recorded_day(number: str, seed: int) -> Vehicle:
    """A vehicle on one day, on which nothing is changed."""
    driver = _Driver(number, seed, MONDAY)
    drive_a_day(driver)
    return Vehicle(number, tuple(driver.steps), SETTINGS[number], HOME.get(number, ""))


def drive_a_day(driver: _Driver) -> None:
    """Three drives, with stops and gaps between them."""
    chance = driver.chance
    for _ in range(3):
        if chance.random() < 0.1:
            driver.ahead = timedelta(minutes=chance.choice((-90, 25, 90)))
        driver.rolled_over = chance.random() < 0.1
        driver.drive(*chance.choice(PLACES), chance.choice((25.0, 42.0, 58.0, 75.0)))
        driver.stand(chance.choice((2.0, 9.0, 40.0)), chance.randint(1, 3))
        driver.ahead = timedelta(0)
        if chance.random() < 0.3:
            # Silent on its way.
            driver.now += timedelta(minutes=chance.choice((20, 100)))
            driver.latitude, driver.longitude = chance.choice(PLACES)


def recorded_week(seed: int) -> list[Vehicle]:
    """A week of all vehicles."""
    return [_week_of(number, seed) for number in NUMBERS]


def _week_of(number: str, seed: int) -> Vehicle:
    group = HOME.get(number, "")
    driver = _Driver(number, seed, MONDAY)
    settings = SETTINGS[number]
    for day in range(7):
        driver.now = MONDAY + timedelta(days=day, minutes=driver.chance.randint(0, 300))
        drive_a_day(driver)
        if day == 1 and number in {"van", "tug"}:
            # In the middle of a drive.
            settings = {**settings, "speedLimit": 20.0}
            driver.steps.insert(-12, Change(settings, group))
        if day == 2 and number in {"van", "bus", "cab"}:
            group = {"van": "south", "bus": "north", "cab": ""}[number]
            driver.steps.insert(-10, Change(settings, group))
        if day == 4 and number == "bus":
            driver.steps.insert(-15, Change({**settings, "event.overspeed.preferLowest": False}, "south"))
    return Vehicle(
        number,
        tuple(driver.steps),
        SETTINGS[number],
        HOME.get(number, ""),
        office_hours=number == "cab",
    )


def recorded_pair(seed: int) -> list[tuple[str, Report]]:
    """What a truck and its trailer send, in the order in which it arrives: now coupled, now apart."""
    chance = random.Random(seed)
    north = {"truck": 0.0, "trailer": 30.0}
    now, found = MONDAY, []
    for number in ("truck", "trailer") * 40:
        now += timedelta(seconds=chance.choice((20, 60)))
        drives = chance.random() < (0.7 if number == "truck" else 0.3)
        if drives:
            other = north["trailer" if number == "truck" else "truck"]
            north[number] = other + chance.choice((-1, 1)) * chance.choice((20, 60, 90, 130, 170, 260, 900))
        report = Report(
            now, round(52 + north[number] / DEGREE, 6), 13.0, chance.choice((8.0, 30.0)) if drives else 0.0
        )
        found.append((number, report))
    return found
