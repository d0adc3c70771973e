"""The actor of a device that is, or was, at another server of the cluster."""

from datetime import UTC, datetime, timedelta

from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.devices.position_writer import assign_id
from motorpool.actors.messages.downlink import Transmit
from motorpool.actors.messages.uplink import (
    ConnectedElsewhere,
    Disconnected,
    GetCommandTypes,
    PositionReported,
    StoredElsewhere,
)
from motorpool.codecs.reports import PositionReport
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.devices import commands, position_rows, positions
from motorpool.storage.records import Position, QueuedCommand

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OTHER = 2
WITH_EVENTS = {"event.status.enable": True}


def fix(minutes, longitude):
    return PositionReport({}, device_time=NOW + minutes * MINUTE, valid=True, latitude=0, longitude=longitude)


async def store(database, number, row, minutes, longitude, **attributes):
    at = NOW + minutes * MINUTE
    stored = Position(
        id=number,
        device_id=row.id,
        protocol="osmand",
        server_time=at,
        device_time=at,
        fix_time=at,
        valid=True,
        longitude=longitude,
        attributes=attributes,
    )
    await positions.store(database, [position_rows.pack_row(stored)], [number])


async def test_a_move_to_another_server_makes_no_events(make_device, device_harness, time):
    row = await make_device(attributes=WITH_EVENTS)
    cluster_statuses = ClusterStatuses()
    async with device_harness(cluster_statuses=cluster_statuses) as running:
        connection, _ = await running.connect(row)
        await running.device(row).tell(ConnectedElsewhere())
        await time.settle()
        assert running.statuses == ["online", "offline"]
        # It comes back before the other server has noticed, and goes there again, by a disconnection.
        cluster_statuses.set_remote(row.id, OTHER, "online")
        connection, _ = await running.connect(row)
        await running.device(row).tell(Disconnected(connection))
        await time.settle()
        assert running.statuses == ["online", "offline", "online", "offline"]
        assert [event.type for event in running.events] == ["deviceOnline"]
        cluster_statuses.set_remote(row.id, OTHER, "offline")
        connection, _ = await running.connect(row)
        await running.device(row).tell(Disconnected(connection))
        await time.settle()
        assert [event.type for event in running.events] == ["deviceOnline"] * 2 + ["deviceOffline"]


async def test_silence_is_no_event_while_the_device_reports_to_another_server(
    make_device, device_harness, time
):
    row = await make_device(attributes=WITH_EVENTS)
    cluster_statuses = ClusterStatuses()
    async with device_harness(cluster_statuses=cluster_statuses, status_timeout_seconds=60) as running:
        await running.connect(row)
        await time.settle()
        cluster_statuses.set_remote(row.id, OTHER, "online")
        await time.passes(90, step=5)
        assert running.statuses == ["online", "unknown"]
        assert [event.type for event in running.events] == ["deviceOnline"]


async def test_what_another_server_has_stored_is_gone_on_from(database, make_device, device_harness, time):
    row = await make_device("van")
    async with device_harness() as running:
        connection, _ = await running.neighbours.connect(running.system, 1)
        device = running.device(row)
        await device.tell(PositionReported(fix(-10, 1.1), "osmand", connection))
        await time.settle()
        for append in running.appended:
            assign_id(append, 1)
        assert running.statuses == ["online"]
        await store(database, 7, row, -5, 1.0, totalDistance=111_000.0)
        await device.tell(StoredElsewhere())
        await device.tell(PositionReported(fix(0, 1.001), "osmand", connection))
        await time.settle()
        assert running.statuses == ["online", "offline", "online"]
        last = running.positions[-1]
        assert 100 < last.attributes["distance"] < 120
        assert 111_100 < last.attributes["totalDistance"] < 111_120


async def test_a_device_that_is_connected_here_is_not_disturbed(database, make_device, device_harness, time):
    row = await make_device()
    async with device_harness() as running:
        connection, _ = await running.connect(row)
        device = running.device(row)
        await device.tell(PositionReported(fix(0, 3.0), "jt808", connection))
        await time.settle()
        await store(database, 7, row, -1, 5.0)
        await device.tell(StoredElsewhere())
        await device.tell(PositionReported(fix(1, 3.001), "jt808", connection))
        assert await device.ask(GetCommandTypes())
        await time.settle()
        assert running.statuses == ["online"]
        assert 100 < running.positions[-1].attributes["distance"] < 120


async def test_queued_commands_wait_until_the_device_is_stored_as_this_servers(
    database, make_known_device, device_harness, time
):
    async with database.session() as session:
        other, this = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    row = await make_known_device()
    await commands.enqueue(database, QueuedCommand(device_id=row.id, type="positionSingle"))
    await homes.claim(database, other, [row.id])
    async with device_harness(node=this) as running:
        _, probe = await running.connect(row)
        await time.passes(3, step=0.5)
        assert Transmit not in map(type, probe.messages)
        await homes.claim(database, this, [row.id])
        await time.passes(1, step=0.5)
        assert [type(message) for message in probe.messages].count(Transmit) == 1
        assert await running.queued(row) == []


async def test_a_command_is_claimed_though_the_device_is_stored_as_this_servers_only_meanwhile(
    database, make_known_device, device_harness, time, monkeypatch
):
    async with database.session() as session:
        other, this = [await nodes.join(session, "north", "a server of tests", "0") for _ in range(2)]
    row = await make_known_device()
    await commands.enqueue(database, QueuedCommand(device_id=row.id, type="positionSingle"))
    await homes.claim(database, other, [row.id])
    look = homes.connected_elsewhere

    async def look_after_the_claim(q, node, device_ids):
        await homes.claim(database, this, [row.id])
        return await look(q, node, device_ids)

    monkeypatch.setattr(homes, "connected_elsewhere", look_after_the_claim)
    async with device_harness(node=this) as running:
        _, probe = await running.connect(row)
        await time.settle()
        assert [type(message) for message in probe.messages].count(Transmit) == 1
        assert await running.queued(row) == []
