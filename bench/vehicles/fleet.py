"""A fleet: its vehicles, trackers and phones, and how they are started."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
import trio

from motorpool.bench.phone import Phone, PhonePlan
from motorpool.bench.target import NewDevice, Target
from motorpool.bench.vehicles.archive import Archive
from motorpool.bench.vehicles.cab import Cab
from motorpool.bench.vehicles.camera import VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.on_board_unit import OnBoardUnit
from motorpool.bench.vehicles.tracked_vehicle import TrackedVehicle, TrackerPlan
from motorpool.bench.vehicles.vehicle import Vehicle, VehiclePlan
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime.clock import Clock

START_SECONDS = 5.0
"""Time over which the starts of a fleet are spread, whatever its size."""


class Fleet(msgspec.Struct, frozen=True):
    """The plans of all vehicles and phones."""

    vehicles: tuple[VehiclePlan, ...]
    phones: tuple[PhonePlan, ...]
    trackers: tuple[TrackerPlan, ...] = ()

    def devices(self) -> list[NewDevice]:
        """Return the devices to register."""
        return [
            *(plan.device() for plan in self.vehicles),
            *(plan.device() for plan in self.trackers),
            *(plan.device() for plan in self.phones),
        ]

    async def run(
        self, target: Target, clock: Clock, archives: Mapping[str, Archive] = MappingProxyType({})
    ) -> None:
        """Drive, until cancelled; `archives` are found by uniqueId."""
        encoding_thread = EncodingThread()
        gap = START_SECONDS / max(5, len(self.vehicles) + len(self.trackers) + len(self.phones))
        async with trio.open_nursery() as nursery:
            for plan in self.vehicles:
                archive = archives.get(plan.phone)
                unit = OnBoardUnit(Vehicle(plan), target, encoding_thread, clock, archive)
                nursery.start_soon(unit.run)
                await trio.sleep(gap)
            for tracker in self.trackers:
                nursery.start_soon(TrackedVehicle(tracker, target, clock).run)
                await trio.sleep(gap)
            for phone in self.phones:
                nursery.start_soon(Phone(phone, target, clock, archives.get(phone.unique_id)).run)
                await trio.sleep(gap)


def plan_fleet(
    *,
    vehicles: int,
    phones: int = 0,
    channels: int = 2,
    interval_seconds: float = 5.0,
    seed: int = 1,
    h265: int = 0,
    frames_per_second: int = 15,
    stamped: bool = False,
    alarm_seconds: float = 0.0,
    cab: Cab | None = None,
) -> Fleet:
    """Plan a fleet. The same seed gives the same fleet; fleets of different seeds share no device.

    Every second vehicle uses JT/T 808-2019 and sends G.711 instead of AAC; the last `h265` vehicles send
    H.265. With `stamped` the squares in the pictures encode their time.
    """
    return Fleet(
        tuple(
            VehiclePlan(
                name=f"Van {number:02d}",
                phone=f"138{seed % 1000:03d}{number:05d}",
                version=2019 if number % 2 == 0 else 2013,
                plate=f"B-MP {100 + number}",
                trip=(number - 1) % len(ROUND_TRIPS),
                backwards=(number - 1) // len(ROUND_TRIPS) % 2 == 1,
                seed=seed * 100_000 + number,
                channels=channels,
                interval_seconds=interval_seconds,
                alarm_seconds=alarm_seconds,
                cab=cab or Cab(),
                video=VideoFormat(
                    frames_per_second=frames_per_second,
                    coding=H265 if number > vehicles - h265 else H264,
                    sound=AudioCoding.G711A if number % 2 == 0 else AudioCoding.AAC,
                    stamped=stamped,
                ),
            )
            for number in range(1, vehicles + 1)
        ),
        tuple(
            PhonePlan(
                name=f"Bicycle {number:02d}",
                unique_id=f"phone-{seed}-{number}",
                as_json=number % 2 == 0,
                trip=(number + 2) % len(ROUND_TRIPS),
                seed=seed * 100_000 + 50_000 + number,
                interval_seconds=max(5.0, interval_seconds),
            )
            for number in range(1, phones + 1)
        ),
    )
