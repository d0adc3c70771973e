"""Stored tracks and events for tests of reports."""

import io
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import openpyxl
from tests.actors.reports.brute_force import Point, metres

from motorpool.actors.devices.position_writer import POSITION_WRITER, Append
from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.rules.event_rules import FoldState
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.codecs.reports import PositionReport
from motorpool.storage.events import events
from motorpool.storage.records import Event

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAY = datetime(2026, 5, 1, tzinfo=UTC)


def stamp(when: datetime) -> str:
    return when.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def span(start: datetime = MAY, end: datetime = MAY + timedelta(days=1), **more: Any) -> str:
    return urlencode({"from": stamp(start), "to": stamp(end), **more}, doseq=True)


def week(seed: int, *, start: datetime = MAY, days: int = 7) -> list[Point]:
    """A week of a vehicle: drives, stops with a heartbeat, nights without a word, a ferry now and then."""
    chance = random.Random(seed)
    time, latitude, longitude, total = start, 52.0 + seed, 13.0, 0.0
    points: list[Point] = []

    def report(north: float, east: float, speed: float) -> None:
        nonlocal latitude, longitude, total
        latitude += north / 111_319.49
        longitude += east / 68_500
        point = Point(time, latitude, longitude, speed)
        way = round(metres(points[-1], point), 2) if points else 0.0
        total = round(total + way, 2)
        given = {"distance": way, "totalDistance": total, "hours": 60_000 * len(points)}
        points.append(Point(time, latitude, longitude, speed, len(points), given))

    while time < start + timedelta(days=days):
        for _ in range(chance.randrange(3, 25)):
            time += timedelta(seconds=chance.randrange(20, 90))
            report(chance.uniform(200, 900), chance.uniform(-400, 400), chance.uniform(10, 60))
        for _ in range(chance.randrange(2, 12)):
            time += timedelta(seconds=chance.randrange(60, 900))
            report(chance.uniform(-20, 20), chance.uniform(-20, 20), 0.0)
        if chance.random() < 0.3:
            time += timedelta(hours=chance.randrange(2, 9))
            report(chance.choice([0.0, 60_000.0]), 0.0, 0.0)
    return points


def rough_days(seed: int, *, start: datetime = MAY, days: int = 3) -> list[PositionReport]:
    """Reports as in `week`, in the order of their fix times, with drifting places, lost fixes and jumps."""
    chance = random.Random(seed)
    found = []
    trouble, left = "", 0
    for point in week(chance.randrange(20), start=start, days=days):
        if not left:
            trouble = chance.choice(["", "", "", "", "no fix", "nowhere", "elsewhere"])
            left = chance.randrange(1, 20 if trouble == "" else 5)
        left -= 1
        latitude, longitude = point.latitude, point.longitude + chance.gauss(0, 10) / 68_500
        if trouble == "nowhere":
            latitude = longitude = 0.0
        elif trouble == "elsewhere":
            latitude += 0.7
        level = 300.0 - point.number % 150
        attributes = {"hours": point.attributes["hours"], "ignition": point.speed > 0, "fuel": level}
        found.append(
            PositionReport(
                attributes,
                device_time=point.time,
                fix_time=point.time,
                valid=trouble not in {"no fix", "nowhere"},
                latitude=latitude,
                longitude=longitude,
                speed=point.speed,
            )
        )
    return found


class Recorder:
    """Stores reports of a device with their events, as its actor and the writer do."""

    def __init__(self, served: Any, device_id: int) -> None:
        self._served = served
        self._device_id = device_id
        self._state = FoldState()
        self._now = datetime.min.replace(tzinfo=UTC)
        """When the last one arrived: after all fixes so far."""

    async def add(self, reports: Iterable[PositionReport]) -> None:
        """Store reports that arrive in this order, in one batch."""
        context = self._served.context
        count = 0
        async with context.system.topic(POSITIONS).subscribe() as subscription:
            for report in reports:
                assert report.fix_time is not None
                self._now = max(self._now, report.fix_time + timedelta(seconds=1))
                result = fold(report, self._state, FoldContext(self._device_id, "x", self._now))
                self._state = result.state
                assert result.position is not None
                append = Append(
                    result.position, result.events, point=result.point, dated_back=result.dated_back
                )
                await context.system.ref(POSITION_WRITER).tell(append)
                count += 1
            while count:
                count -= sum(len(batch) for batch in await subscription.receive_batch())


def positions(served: Any, device_id: int, points: list[Point]) -> list[Any]:
    return [
        served.position(
            device_id,
            point.time,
            latitude=point.latitude,
            longitude=point.longitude,
            speed=point.speed,
            attributes=point.attributes,
        )
        for point in points
    ]


async def happen(database: Any, *found: Event) -> list[Event]:
    await events.assign_ids(database, found)
    await events.insert_many(database, found)
    return list(found)


async def get(client: Any, path: str) -> Any:
    """What a report answers as JSON."""
    answer = await client.get(path)
    assert answer.status == 200, answer.text
    return answer.json()


async def opened(client: Any, path: str, **sent: Any) -> openpyxl.Workbook:
    """A report as a workbook."""
    answer = await client.get(path, **sent)
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Type"] == XLSX
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="')
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    return openpyxl.load_workbook(io.BytesIO(answer.body))


def table(sheet: Any) -> tuple[dict[Any, Any], list[Any], list[list[Any]]]:
    """The lines of the header of a sheet, the titles, and the rows."""
    lines = [[cell.value for cell in row] for row in sheet.iter_rows()]
    empty = next(index for index, line in enumerate(lines) if line[0] is None)
    return {line[0]: line[1] for line in lines[:empty]}, lines[empty + 1], lines[empty + 2 :]


class Road:
    """The positions of a vehicle, one each minute, in the order in which it does things."""

    def __init__(self, served: Any, device_id: int, start: datetime) -> None:
        self.positions: list[Any] = []
        self.now = start
        self._served = served
        self._device_id = device_id
        self._latitude = 52.0

    def stand(self, minutes: int, *, fuel: float | None = None, **attributes: Any) -> None:
        """Report so often from the same place."""
        self._report(minutes, 0.0, fuel, attributes)

    def drive(self, minutes: int, *, fuel: float | None = None, **attributes: Any) -> None:
        """Drive north, a kilometre each minute."""
        self._report(minutes, 32.4, fuel, attributes)

    def sleep(self, minutes: int) -> None:
        """Say nothing."""
        self.now += timedelta(minutes=minutes)

    def _report(self, minutes: int, speed: float, fuel: float | None, attributes: dict[str, Any]) -> None:
        level = {} if fuel is None else {"fuel": fuel}
        for _ in range(minutes):
            self._latitude += 1000 / 111_319.49 if speed else 0.0
            self.positions.append(
                self._served.position(
                    self._device_id,
                    self.now,
                    latitude=self._latitude,
                    speed=speed,
                    attributes={**attributes, **level},
                )
            )
            self.now += timedelta(minutes=1)
