"""What the demonstration configures over the API of a server."""

from datetime import datetime, timedelta

import msgspec
import pytest
import trio

from motorpool.bench.demo.activity import FILMED, fetch_footage, wait_for_archives
from motorpool.bench.demo.api import open_api
from motorpool.bench.demo.configuration import configure
from motorpool.bench.demo.program import KEPT, find_archives
from motorpool.bench.demo.vehicles import WORKSHOP, plan_demo_fleet, plan_new_tracker
from motorpool.bench.target import Account, register

LISTS = (
    "/groups",
    "/geofences",
    "/drivers",
    "/maintenance",
    "/attributes/computed",
    "/calendars",
    "/commands",
    "/scheduledcommands",
    "/notifications",
    "/users",
    "/companies",
    "/teams",
    "/branches",
    "/contacts",
    "/ticketcategories",
    "/tickets",
)


@pytest.fixture
async def server(starting):
    async with starting(listen=True) as served:
        yield served


async def test_everything_is_made_once_and_the_operator_sees_a_part_of_it(server):
    fleet = plan_demo_fleet()
    account = Account(server=f"http://127.0.0.1:{server.port}", email="admin@example.org", password="admin")
    operator = msgspec.structs.replace(account, email="operator@example.org", password="operator")
    assert await register(account, fleet.devices()) == 10
    counts = []
    async with open_api(account) as api:
        for _ in range(2):
            devices = {row["name"]: row for row in await api.rows("/devices")}
            await configure(api, fleet, devices, operator)
            counts.append([len(await api.rows(path)) for path in LISTS])
    assert counts[0] == counts[1]
    assert min(counts[0]) >= 1
    async with open_api(operator) as api:
        seen = {row["name"] for row in await api.rows("/devices")}
        assert seen == {"Van 01", "Van 02", "Van 03", "Bicycle 01", "Bicycle 02"}
        assert {row["name"] for row in await api.rows("/geofences")} >= {"Depot West", "Alexanderplatz"}
        me = await api.row("/session")
        assert (me["administrator"], me["limitCommands"], me["deviceReadonly"]) == (False, True, True)
        kinds = {row["statusKind"] for row in await api.rows("/tickets")}
        assert kinds == {"new", "open", "pending", "resolved"}
    van = devices["Van 01"]["id"]
    async with open_api(account) as api:
        assert len(await api.rows("/geofences", deviceId=str(van))) == 0
        group = next(row["id"] for row in await api.rows("/groups") if row["name"] == "Berlin")
        assert len(await api.rows("/geofences", groupId=str(group))) == 4
        assert len(await api.rows("/drivers", deviceId=str(van))) == 1


async def test_each_device_continues_after_its_latest_position(server):
    now = datetime.fromisoformat("2026-11-22T12:00:00Z")
    account = Account(server=f"http://127.0.0.1:{server.port}", email="admin@example.org", password="admin")
    fleet = plan_demo_fleet()
    await register(account, fleet.devices())
    async with open_api(account) as api:
        devices = {row["name"]: row for row in await api.rows("/devices")}
        first = await find_archives(api, devices, now)
        assert {archive.since for archive in first.values()} == {now - KEPT}
        absent = devices[WORKSHOP]["uniqueId"]
        assert {unique_id for unique_id, archive in first.items() if archive.until} == {absent}
        hour, week = now - timedelta(hours=1), now - timedelta(days=7)
        for name, fix in (("Van 01", hour), ("Van 02", week), (WORKSHOP, hour)):
            await server.report(server.position(devices[name]["id"], fix))
        again = await find_archives(api, devices, now)
    assert again[devices["Van 01"]["uniqueId"]].since == hour + timedelta(seconds=1)
    assert again[devices["Van 02"]["uniqueId"]].since == now - KEPT
    # The vehicle in the workshop does not come back.
    assert again[absent].until == again[absent].since


async def test_film_is_asked_for_once_when_the_archives_are_there(server):
    now = server.clock.now()
    account = Account(server=f"http://127.0.0.1:{server.port}", email="admin@example.org", password="admin")
    fleet = plan_demo_fleet()
    await register(account, fleet.devices())
    async with open_api(account) as api:
        devices = {row["name"]: row for row in await api.rows("/devices")}
        for name in FILMED:
            await server.report(server.position(devices[name]["id"], now - timedelta(minutes=1)))
        with trio.fail_after(120):
            await wait_for_archives(api, devices, now)
        for _ in range(2):
            await fetch_footage(api, fleet, devices, now)
        asked = await api.rows("/footagerequests")
    assert len(asked) == len({row["deviceId"] for row in asked}) == len(FILMED)
    spans = [
        datetime.fromisoformat(row["endTime"]) - datetime.fromisoformat(row["startTime"]) for row in asked
    ]
    assert set(spans) == {timedelta(seconds=30)}


def test_the_tracker_that_is_to_be_connected_has_a_number_of_its_own():
    assert plan_new_tracker().phone == "13800100009"
    assert "13800100009" not in {device.unique_id for device in plan_demo_fleet().devices()}
