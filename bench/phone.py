"""A simulated phone with an OsmAnd client on a bicycle, which reports by HTTP
(docs/protocols/osmand.md#json-form).
"""

import logging
from datetime import datetime, timedelta
from typing import Any

import httpx
import msgspec
import trio

from motorpool.bench.target import NewDevice, Target
from motorpool.bench.vehicles.archive import Archive
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.roster import Roster, Shift
from motorpool.bench.vehicles.route import Drive, VehicleState
from motorpool.bench.vehicles.vehicle import DRIVE_START
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.runtime.clock import Clock

CYCLIST_KMH = 18.0
KNOTS = 1.943844
"""Knots in a metre per second."""
MAX_PAUSE_SECONDS = 60.0
ARCHIVE_SECONDS, ARCHIVE_RESTING_SECONDS = 30.0, 600.0
"""Between the reports of the time before the simulation: while it rides, and while it rests."""

_log = logging.getLogger(__name__)


class PhonePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of one phone."""

    name: str
    unique_id: str
    as_json: bool
    """Whether it sends the JSON form of newer clients; otherwise the query form."""
    trip: int
    seed: int
    interval_seconds: float
    shift: Shift | None = None
    """Hours of work; None: it rides without a break."""

    def device(self) -> NewDevice:
        """Return the device to register."""
        return NewDevice(
            name=self.name, unique_id=self.unique_id, model="Phone", category="bicycle", attributes={}
        )


class Phone:
    """A simulated phone."""

    def __init__(self, plan: PhonePlan, target: Target, clock: Clock, archive: Archive | None = None) -> None:
        self._plan = plan
        self._archive = archive
        self._clock = clock
        self._url = f"http://{target.host}:{target.port(OsmAnd.port)}/"
        trip = ROUND_TRIPS[plan.trip]._replace(limit_kmh=CYCLIST_KMH)
        self._drive = Drive(trip, plan.seed)
        self._roster = Roster(self._drive, plan.shift, plan.seed) if plan.shift is not None else None

    async def run(self) -> None:
        """Report the archive, then ride and report until cancelled; only the newest report is sent again."""
        async with httpx.AsyncClient(timeout=20.0) as client:
            pause = self._plan.interval_seconds
            instant = self._archive.since if self._archive is not None else None
            while True:
                if instant is not None and instant >= self._clock.now():
                    instant = None
                try:
                    answer = await client.send(self.request(client, instant or self._clock.now()))
                    answer.raise_for_status()
                    pause = self._plan.interval_seconds
                    if instant is not None:
                        instant += timedelta(seconds=self._pause_after(instant))
                        continue
                except httpx.HTTPError as error:
                    _log.debug("%s: not sent: %s", self._plan.name, error)
                    pause = min(2 * pause, max(MAX_PAUSE_SECONDS, self._plan.interval_seconds))
                await trio.sleep(pause)

    def request(self, client: httpx.AsyncClient, instant: datetime) -> httpx.Request:
        """Return the request that reports the position."""
        seconds = (instant - DRIVE_START).total_seconds()
        moment = self._drive.at(seconds) if self._roster is None else self._roster.state_at(seconds)
        # Full in the morning, nearly empty at night.
        battery = 1.0 - 0.9 * (seconds % 86_400 / 86_400)
        if self._plan.as_json:
            return client.build_request("POST", self._url, json=self._json(moment, instant, battery))
        return client.build_request("POST", self._url, params=self._query(moment, instant, battery))

    def _pause_after(self, instant: datetime) -> float:
        seconds = (instant - DRIVE_START).total_seconds()
        rest = self._roster.starts_in(seconds) if self._roster is not None else 0.0
        return min(rest + 1.0, ARCHIVE_RESTING_SECONDS) if rest > 0 else ARCHIVE_SECONDS

    def _query(self, moment: VehicleState, instant: datetime, battery: float) -> dict[str, str]:
        return {
            "id": self._plan.unique_id,
            "lat": f"{moment.latitude:.6f}",
            "lon": f"{moment.longitude:.6f}",
            "timestamp": str(round(instant.timestamp())),
            "speed": f"{moment.speed * KNOTS:.2f}",
            "bearing": f"{moment.course:.1f}",
            "altitude": "34.0",
            "accuracy": "6.0",
            "batt": f"{battery * 100:.0f}",
        }

    def _json(self, moment: VehicleState, instant: datetime, battery: float) -> dict[str, Any]:
        return {
            "device_id": self._plan.unique_id,
            "location": {
                "timestamp": instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant.microsecond // 1000:03d}Z",
                "coords": {
                    "latitude": round(moment.latitude, 6),
                    "longitude": round(moment.longitude, 6),
                    "speed": round(moment.speed, 2),
                    "heading": round(moment.course, 1),
                    "accuracy": 6.0,
                    "altitude": 34.0,
                },
                "is_moving": moment.speed > 0,
                "odometer": round(moment.odometer),
                "battery": {"level": round(battery, 2), "is_charging": False},
            },
        }
