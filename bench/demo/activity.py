"""Commands and footage requests that the demonstration sends to its vehicles."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import trio

from motorpool.bench.demo.api import Api, Row
from motorpool.bench.demo.vehicles import WORKSHOP
from motorpool.bench.vehicles.fleet import Fleet
from motorpool.bench.vehicles.vehicle import DRIVE_START, Vehicle

BEFORE, AFTER = timedelta(seconds=10), timedelta(seconds=20)
FILMED = ("Van 01", "Van 02", "Bus 04", WORKSHOP)
ASKED_EVERY_SECONDS = 2.0
RECENT = timedelta(minutes=3)


async def fetch_footage(api: Api, fleet: Fleet, devices: Mapping[str, Row], now: datetime) -> None:
    """Ask for the film around the latest alarm of some vehicles, once.

    That of the vehicle in the workshop waits until it is back.
    """
    for plan in fleet.vehicles:
        if plan.name not in FILMED:
            continue
        device = devices[plan.name]["id"]
        vehicle = Vehicle(plan)
        assert vehicle.roster is not None
        span = [
            (instant - DRIVE_START).total_seconds()
            for instant in (now - timedelta(hours=40), now - timedelta(minutes=30))
        ]
        alarms = vehicle.roster.alarms_between(*span)
        if alarms and not await api.rows("/footagerequests", deviceId=str(device)):
            instant = DRIVE_START + timedelta(seconds=round(alarms[-1]))
            body = {
                "deviceId": device,
                "channel": 1,
                "startTime": _text(instant - BEFORE),
                "endTime": _text(instant + AFTER),
                "until": _text(now + timedelta(days=14)),
            }
            await api.post("/footagerequests", body)


async def send_commands(api: Api, fleet: Fleet, devices: Mapping[str, Row], now: datetime) -> None:
    """Ask for lists of recordings, run the schedule, and leave a command for the vehicle in the workshop."""
    span = {"channel": 0, "startTime": _text(now - timedelta(hours=48)), "endTime": _text(now)}
    for plan in fleet.vehicles:
        if plan.name != WORKSHOP:
            device = devices[plan.name]["id"]
            await api.post(
                "/commands/send", {"deviceId": device, "type": "videoPlaybackList", "attributes": span}
            )
    for schedule in await api.rows("/scheduledcommands"):
        await api.post(f"/scheduledcommands/{schedule['id']}/run")
    await api.post("/commands/send", {"deviceId": devices[WORKSHOP]["id"], "type": "positionSingle"})


async def wait_for_archives(api: Api, devices: Mapping[str, Row], now: datetime) -> None:
    """Wait until the server has the archives of the vehicles whose film is fetched."""
    awaited = {devices[name]["id"] for name in FILMED if name != WORKSHOP}
    while True:
        recent = {
            row["deviceId"]
            for row in await api.rows("/positions")
            if datetime.fromisoformat(row["fixTime"]) > now - RECENT
        }
        if awaited <= recent:
            return
        await trio.sleep(ASKED_EVERY_SECONDS)


def _text(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
