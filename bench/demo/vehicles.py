"""The vehicles and phones of the demonstration, and their working hours."""

import msgspec

from motorpool.bench.demo.tours import EAST, SOUTH, WEST
from motorpool.bench.phone import PhonePlan
from motorpool.bench.vehicles.fleet import Fleet, plan_fleet
from motorpool.bench.vehicles.roster import Shift
from motorpool.bench.vehicles.vehicle import VehiclePlan

ALARMS = 3
WORKSHOP = "Van 08"
"""The vehicle that is not online."""
_SHIFTS = (
    # One of them drives at any hour. Hours are UTC; the city is one or two ahead.
    ("Van 01", "Deliveries", WEST, Shift(start_hour=5, hours=15, driving_share=0.65, alarms=ALARMS)),
    ("Van 02", "Deliveries", EAST, Shift(start_hour=6.5, hours=12, driving_share=0.6, alarms=ALARMS)),
    ("Van 03", "Deliveries", SOUTH, Shift(start_hour=13, hours=12, driving_share=0.6, alarms=ALARMS)),
    (
        "Bus 04",
        "Shuttles",
        EAST._replace(limit_kmh=42),
        Shift(start_hour=3, hours=22, driving_share=0.8, alarms=ALARMS),
    ),
    (
        "Bus 05",
        "Shuttles",
        WEST._replace(limit_kmh=42),
        Shift(start_hour=15, hours=22, driving_share=0.8, alarms=ALARMS),
    ),
    ("Van 06", "Service", WEST, Shift(start_hour=20, hours=12, driving_share=0.6, alarms=ALARMS)),
    ("Van 07", "Service", SOUTH, Shift(start_hour=7, hours=9, driving_share=0.5, alarms=ALARMS)),
    (WORKSHOP, "Service", EAST, Shift(start_hour=6, hours=10, driving_share=0.5, alarms=1)),
)
NEW_TRACKER = 9
"""Number of the terminal that knocks without being registered: 13800100009."""
CAMERAS = {"Van 01": 4}
"""Of the other vehicles 2."""


def plan_new_tracker() -> VehiclePlan:
    """Plan a terminal that is not registered, so that there is one to connect."""
    plan = plan_fleet(vehicles=NEW_TRACKER).vehicles[-1]
    return msgspec.structs.replace(plan, tour=SOUTH, video=msgspec.structs.replace(plan.video, squares=False))


def plan_demo_fleet() -> Fleet:
    """Plan the fleet, which is always the same."""
    usual = plan_fleet(vehicles=len(_SHIFTS), phones=2)
    return Fleet(
        tuple(
            msgspec.structs.replace(
                plan,
                name=name,
                shift=shift,
                tour=tour,
                backwards=number % 2 == 1,
                channels=CAMERAS.get(name, 2),
                recorded_hours=48,
                video=msgspec.structs.replace(plan.video, squares=False),
            )
            for number, (plan, (name, _, tour, shift)) in enumerate(zip(usual.vehicles, _SHIFTS, strict=True))
        ),
        tuple(_cyclist(plan, number) for number, plan in enumerate(usual.phones, start=1)),
    )


def group_of(name: str) -> str:
    """Return the name of the group that a vehicle or phone belongs to."""
    return next((group for vehicle, group, _, _ in _SHIFTS if vehicle == name), "Bicycles")


def _cyclist(plan: PhonePlan, number: int) -> PhonePlan:
    shift = Shift(start_hour=6 + 5 * number, hours=8, driving_share=0.6)
    return msgspec.structs.replace(plan, shift=shift, interval_seconds=15.0)
