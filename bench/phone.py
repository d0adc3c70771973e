"""A simulated phone with an OsmAnd client on a bicycle, which reports by HTTP
(docs/protocols/osmand.md#json-form).
"""

import logging
from datetime import datetime
from typing import Any

import httpx
import msgspec
import trio

from motorpool.bench.target import NewDevice, Target
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive, VehicleState
from motorpool.bench.vehicles.vehicle import DRIVE_START
from motorpool.codecs.devices.osmand.codec import OsmAnd
from motorpool.runtime.clock import Clock

CYCLIST_KMH = 18.0
KNOTS = 1.943844
"""Knots in a metre per second."""
LONGEST_PAUSE_SECONDS = 60.0

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

    def device(self) -> NewDevice:
        """Return the device to register."""
        return NewDevice(
            name=self.name, unique_id=self.unique_id, model="Phone", category="bicycle", attributes={}
        )


class Phone:
    """A simulated phone."""

    def __init__(self, plan: PhonePlan, target: Target, clock: Clock) -> None:
        self._plan = plan
        self._clock = clock
        self._url = f"http://{target.host}:{target.port(OsmAnd.port)}/"
        trip = ROUND_TRIPS[plan.trip]._replace(limit_kmh=CYCLIST_KMH)
        self._drive = Drive(trip, plan.seed)

    async def run(self) -> None:
        """Ride and report until cancelled; failed reports are sent later, the newest first."""
        async with httpx.AsyncClient(timeout=20.0) as client:
            pause = self._plan.interval_seconds
            while True:
                try:
                    answer = await client.send(self.request(client, self._clock.now()))
                    answer.raise_for_status()
                    pause = self._plan.interval_seconds
                except httpx.HTTPError as error:
                    _log.debug("%s: not sent: %s", self._plan.name, error)
                    pause = min(2 * pause, max(LONGEST_PAUSE_SECONDS, self._plan.interval_seconds))
                await trio.sleep(pause)

    def request(self, client: httpx.AsyncClient, instant: datetime) -> httpx.Request:
        """Return the request that reports the position."""
        seconds = (instant - DRIVE_START).total_seconds()
        moment = self._drive.at(seconds)
        # Full in the morning, nearly empty at night.
        battery = 1.0 - 0.9 * (seconds % 86_400 / 86_400)
        if self._plan.as_json:
            return client.build_request("POST", self._url, json=self._json(moment, instant, battery))
        return client.build_request("POST", self._url, params=self._query(moment, instant, battery))

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
