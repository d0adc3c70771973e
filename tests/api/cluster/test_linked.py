"""What is asked of a device goes to its server, if there is a link."""

import pytest
import trio
from tests.api.cluster.conftest import learned, member
from tests.cluster.fake_pipe import FakeNetwork

from motorpool.actors.devices.far_device import ERRORS
from motorpool.actors.messages.access import MaySee
from motorpool.actors.messages.uplink import DEVICE
from motorpool.runtime import Far
from motorpool.storage.cluster import homes
from motorpool.storage.devices import positions


@pytest.fixture
async def linked(database, tmp_path):
    """Two servers; the device of the second has a position."""
    async with trio.open_nursery() as nursery:
        network = FakeNetwork(nursery)
        async with (
            member(database, tmp_path / "1", pipe=network.pipe()) as one,
            member(database, tmp_path / "2", is_first=False, pipe=network.pipe()) as home,
        ):
            home.device_id = await home.device(home.admin, "1")
            await homes.claim(database, home.node, [home.device_id])
            await home.report(home.position(home.device_id, attributes={"totalDistance": 5.0}))
            await learned(one, MaySee(0, home.device_id))
            one.pipe, home.pipe = network.pipes
            yield one, home
        nursery.cancel_scope.cancel()


def actor(served, device_id):
    cell = served.context.system._group(DEVICE).cells.get(device_id)
    return None if cell is None else type(cell.actor)


async def test_totals_are_set_by_the_server_of_the_device(linked, database):
    one, home = linked
    path = f"/devices/{home.device_id}/accumulators"
    assert (await one.admin.put(path, json={"totalDistance": 123456.5})).status == 204
    assert actor(one, home.device_id) is Far
    # Its actor has them in memory, so what is not set stays.
    assert (await home.admin.put(path, json={"hours": 3_600_000})).status == 204
    (latest,) = await positions.latest(database, [home.device_id])
    assert latest.attributes == {"totalDistance": 123456.5, "hours": 3_600_000.0}


async def test_commands_are_queued_by_the_server_of_the_device(linked):
    one, home = linked
    command = {"deviceId": home.device_id, "type": "custom", "attributes": {"data": "AA=="}}
    answer = await one.admin.post("/commands/send", json=command)
    assert answer.status == 202
    assert answer.json()["deviceId"] == home.device_id
    assert actor(one, home.device_id) is Far
    command["attributes"]["noQueue"] = True
    answers = [(await each.admin.post("/commands/send", json=command)) for each in linked]
    assert {(each.status, each.text) for each in answers} == {(400, "the device is offline")}
    # Both know the same types.
    types = [await each.admin.get(f"/commands/types?deviceId={home.device_id}") for each in linked]
    assert types[0].json() == types[1].json()


async def test_without_a_connection_a_command_is_queued_here_and_the_next_one_looks_again(linked):
    one, home = linked
    command = {"deviceId": home.device_id, "type": "custom", "attributes": {"data": "AA=="}}
    one.pipe.cut()
    assert (await one.admin.post("/commands/send", json=command)).status == 202
    assert actor(one, home.device_id) is not Far
    one.pipe.mend()
    assert (await one.admin.post("/commands/send", json=command)).status == 202
    assert actor(one, home.device_id) is Far


def test_errors_of_storage_cross_with_what_users_are_told():
    for kind, text in ERRORS.items():
        assert text(kind("the queue is full")) == "the queue is full"
