"""A simulated vehicle: its drive and its location messages."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from motorpool.bench.target import NewDevice
from motorpool.bench.vehicles.cab import Cab
from motorpool.bench.vehicles.camera import VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS, RoundTrip
from motorpool.bench.vehicles.jt808.terminal import encode_items, encode_location
from motorpool.bench.vehicles.roster import Roster, Shift
from motorpool.bench.vehicles.route import Drive, VehicleState

DRIVE_START = datetime(2026, 1, 1, tzinfo=UTC)
"""Start of every drive, so that a restarted simulation continues where the vehicles would be."""
KMH = 3.6
"""Kilometres an hour, of metres a second."""

OIL_CUT = 1 << 10
DOORS_LOCKED = 1 << 12
_LOW_BEAM, _RIGHT, _LEFT, _BRAKE = 1 << 0, 1 << 2, 1 << 3, 1 << 4


class VehiclePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of one vehicle."""

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
    video: VideoFormat
    alarm_seconds: float = 0.0
    """Between alarms with a photo and a video; 0: none."""
    shift: Shift | None = None
    """Hours of work; None: it drives without a break."""
    recorded_hours: int = 24
    """How far back the recordings go."""
    cab: Cab = Cab()
    """What is said and heard in it during a talk."""
    tour: RoundTrip | None = None
    """Driven instead of `trip`."""

    def device(self) -> NewDevice:
        """Return the device to register."""
        return NewDevice(
            name=self.name,
            unique_id=self.phone,
            model="SIM-1",
            category="van",
            attributes={"channels": self.channels},
        )


class Vehicle:
    """A vehicle at any time since DRIVE_START."""

    def __init__(self, plan: VehiclePlan) -> None:
        self.plan = plan
        self._drive = Drive(plan.tour or ROUND_TRIPS[plan.trip], plan.seed, backwards=plan.backwards)
        self.roster = Roster(self._drive, plan.shift, plan.seed) if plan.shift is not None else None
        self._stopped_duration = timedelta()
        self._stopped_at: datetime | None = None
        self.locked = False

    @property
    def is_engine_stopped(self) -> bool:
        """Whether the engine was stopped by a command."""
        return self._stopped_at is not None

    def stop_engine(self, now: datetime) -> None:
        """Stop the engine."""
        if self._stopped_at is None:
            self._stopped_at = now

    def resume_engine(self, now: datetime) -> None:
        """Start the engine again; the drive continues where it stopped."""
        if self._stopped_at is not None:
            self._stopped_duration += now - self._stopped_at
            self._stopped_at = None

    def state_at(self, instant: datetime) -> VehicleState:
        """Return the state at an instant, which may be in the past."""
        if self._stopped_at is not None and instant > self._stopped_at:
            stopped = self._planned_state(self.seconds_at(self._stopped_at))
            return stopped._replace(speed=0.0, acceleration=0.0, turning=0.0)
        return self._planned_state(self.seconds_at(instant))

    def seconds_at(self, instant: datetime) -> float:
        """Return the seconds of drive and roster at that instant."""
        return (instant - self._stopped_duration - DRIVE_START).total_seconds()

    def is_engine_running(self, instant: datetime) -> bool:
        """Return whether the engine runs at that instant."""
        if self.is_engine_stopped:
            return False
        return self.roster is None or self.roster.is_running(self.seconds_at(instant))

    def is_recording(self, instant: datetime) -> bool:
        """Return whether the cameras record at that instant: in shifts, breaks included."""
        return self.roster is None or self.roster.is_at_work(self.seconds_at(instant))

    def location(
        self, instant: datetime, alarms: Iterable[tuple[int, bytes]] = (), alarm_bits: int = 0
    ) -> bytes:
        """Return the body of a location message for that instant, with these additional items and alarms."""
        moment = self.state_at(instant)
        running = self.is_engine_running(instant)
        kilometres = moment.odometer / 1000
        items = encode_items(
            odometer_metres=moment.odometer,
            # 60 litres, 9 of them for 100 km, filled up when 6 are left.
            fuel_litres=60 - kilometres * 0.09 % 54,
            recorder_speed_kmh=moment.speed * KMH,
            video_alarm=0,
            signals=_signals(moment) if running or self.is_engine_stopped else 0,
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
            ignition=running,
            alarm=alarm_bits,
            status=(OIL_CUT if self.is_engine_stopped else 0) | (DOORS_LOCKED if self.locked else 0),
            items=items,
        )

    def _planned_state(self, seconds: float) -> VehicleState:
        return self._drive.at(seconds) if self.roster is None else self.roster.state_at(seconds)


def _signals(moment: VehicleState) -> int:
    """Return the bits of the lights."""
    signals = _LOW_BEAM
    if moment.acceleration < -0.5 or moment.speed == 0:
        signals |= _BRAKE
    if moment.turning > 8:
        signals |= _RIGHT
    if moment.turning < -8:
        signals |= _LEFT
    return signals
