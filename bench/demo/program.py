"""The demonstration from its first start on: configure, send two days of positions, drive.

All of it can be interrupted: what is configured is found by its name, and each vehicle continues after the
latest position that the server has of it.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

import trio

from motorpool.bench.demo.activity import fetch_footage, send_commands, wait_for_archives
from motorpool.bench.demo.api import Api, Row, open_api
from motorpool.bench.demo.configuration import configure
from motorpool.bench.demo.vehicles import WORKSHOP, plan_demo_fleet, plan_new_tracker
from motorpool.bench.target import Account, Target, register
from motorpool.bench.vehicles.archive import Archive
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.on_board_unit import OnBoardUnit
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.runtime.clock import Clock

KEPT = timedelta(days=2)
IN_WORKSHOP = timedelta(days=1)
"""How long the vehicle in the workshop has been offline at the first start; it never comes back."""
CONFIGURED, ORDERED = "demoConfigured", "demoOrdered"
"""Attributes of the administrator once all is configured, and film and commands are asked for: what is
deleted then stays deleted."""

_log = logging.getLogger(__name__)


async def run_demo(account: Account, operator: Account, target: Target, clock: Clock) -> None:
    """Configure the server, and drive until cancelled.

    Raises:
        RegistrationRefused: the server refuses the login or what is configured.
    """
    fleet = plan_demo_fleet()
    await register(account, fleet.devices())
    async with open_api(account) as api:
        devices = {row["name"]: row for row in await api.rows("/devices")}
        me = await api.row("/session")
        if CONFIGURED not in me["attributes"]:
            await configure(api, fleet, devices, operator)
            await _remember(api, CONFIGURED)
            _log.info("the demonstration is configured")
        now = clock.now().replace(microsecond=0)
        archives = await find_archives(api, devices, now)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fleet.run, target, clock, archives)
            tracker = OnBoardUnit(Vehicle(plan_new_tracker()), target, EncodingThread(), clock)
            nursery.start_soon(tracker.run)
            if ORDERED not in me["attributes"]:
                await wait_for_archives(api, devices, now)
                await fetch_footage(api, fleet, devices, now)
                await send_commands(api, fleet, devices, now)
                await _remember(api, ORDERED)


async def _remember(api: Api, done: str) -> None:
    """Set an attribute of the administrator."""
    me = await api.row("/session")
    await api.put(f"/users/{me['id']}", {**me, "attributes": {**me["attributes"], done: True}})


async def find_archives(api: Api, devices: Mapping[str, Row], now: datetime) -> dict[str, Archive]:
    """Return, by uniqueId, what the server lacks of each device's last two days."""
    latest = {row["deviceId"]: datetime.fromisoformat(row["fixTime"]) for row in await api.rows("/positions")}
    archives = {}
    for name, device in devices.items():
        known = latest.get(device["id"])
        begin = now - KEPT if known is None else max(now - KEPT, known + timedelta(seconds=1))
        until = None
        if name == WORKSHOP:
            until = now - IN_WORKSHOP if known is None else begin
        archives[device["uniqueId"]] = Archive(begin, until)
    return archives
