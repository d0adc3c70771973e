"""A simulated vehicle: its drive, and what it has to say about it."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from motorpool.bench.target import NewDevice
from motorpool.bench.vehicles.camera import Film
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive, Moment
from motorpool.codecs.devices.jt808.terminal import encode_items, encode_location

SET_OUT = datetime(2026, 1, 1, tzinfo=UTC)
"""Every drive began here: a simulation that is started again finds its vehicles where they would be."""
KMH = 3.6
"""Kilometres an hour, of metres a second."""

OIL_CUT = 1 << 10
DOORS_LOCKED = 1 << 12
_LOW_BEAM, _RIGHT, _LEFT, _BRAKE = 1 << 0, 1 << 2, 1 << 3, 1 << 4


class VehiclePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What makes one vehicle differ from the next."""

    name: str
    phone: str
    """Its number in the JT/T 808 header and its uniqueId."""
    version: int
    """Of JT/T 808: 2013 or 2019."""
    plate: str
    trip: int
    """Index in ROUND_TRIPS."""
    backwards: bool
    seed: int
    channels: int
    interval_seconds: float
    film: Film
    alarm_seconds: float = 0.0
    """Between alarms with a photo and a film; 0: there are none."""

    def device(self) -> NewDevice:
        """Describe it for the API."""
        return NewDevice(
            name=self.name,
            unique_id=self.phone,
            model="SIM-1",
            category="van",
            attributes={"channels": self.channels},
        )


class Vehicle:
    """A vehicle at any time since it set out."""

    def __init__(self, plan: VehiclePlan) -> None:
        self.plan = plan
        self._drive = Drive(ROUND_TRIPS[plan.trip], plan.seed, backwards=plan.backwards)
        self._stood = timedelta()
        self._halted: datetime | None = None
        self.locked = False

    @property
    def is_halted(self) -> bool:
        """Whether the engine was stopped from afar."""
        return self._halted is not None

    def halt(self, now: datetime) -> None:
        """Stop the engine."""
        if self._halted is None:
            self._halted = now

    def drive_on(self, now: datetime) -> None:
        """Let the engine run again; the drive goes on where it stopped."""
        if self._halted is not None:
            self._stood += now - self._halted
            self._halted = None

    def moment_at(self, instant: datetime) -> Moment:
        """Where the vehicle is, or was at an earlier instant."""
        if self._halted is not None and instant > self._halted:
            stopped = self._drive.at((self._halted - self._stood - SET_OUT).total_seconds())
            return stopped._replace(speed=0.0, acceleration=0.0, turning=0.0)
        return self._drive.at((instant - self._stood - SET_OUT).total_seconds())

    def location(self, instant: datetime, alarms: Iterable[tuple[int, bytes]] = ()) -> bytes:
        """Describe the vehicle at that instant, as the body of a location with these further items."""
        moment = self.moment_at(instant)
        kilometres = moment.odometer / 1000
        items = encode_items(
            odometer_metres=moment.odometer,
            # 60 litres, 9 of them for 100 km, filled up when 6 are left.
            fuel_litres=60 - kilometres * 0.09 % 54,
            recorder_speed_kmh=moment.speed * KMH,
            video_alarm=0,
            signals=_signals(moment),
            rssi=24 + round(6 * (moment.latitude * 1000 % 1)),
            satellites=9 + round(moment.longitude * 1000) % 6,
            others=alarms,
        )
        return encode_location(
            moment.latitude,
            moment.longitude,
            instant,
            speed_kmh=moment.speed * KMH,
            course=moment.course,
            altitude=34 + moment.latitude * 1000 % 5,
            ignition=not self.is_halted,
            status=(OIL_CUT if self.is_halted else 0) | (DOORS_LOCKED if self.locked else 0),
            items=items,
        )


def _signals(moment: Moment) -> int:
    """Lamps as the driver uses them."""
    signals = _LOW_BEAM
    if moment.acceleration < -0.5 or moment.speed == 0:
        signals |= _BRAKE
    if moment.turning > 8:
        signals |= _RIGHT
    if moment.turning < -8:
        signals |= _LEFT
    return signals
