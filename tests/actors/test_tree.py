"""The whole tree on real ports and the real database."""

import gc
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import trio

from motorpool.actors import tree
from motorpool.actors.forwarding.settings import ForwardSettings
from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.gateway.shared_ports import SharedPorts, bind_shared_ports
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.downlink import CONNECTION, CheckDeadlines
from motorpool.actors.settings import FleetSettings
from motorpool.actors.tree import fleet_tree, schedule_spec
from motorpool.bench.free_ports import free_server_port
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import Actor, ChildSpec, Kind, Strategy, open_system

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
LOOPBACK = "127.0.0.1"


@pytest.fixture
def offset():
    """A port offset at which the ports of all protocols are free."""
    return free_server_port(nodes=2)


@pytest.fixture
def settings(offset, tmp_path):
    return lambda **more: FleetSettings(
        data=tmp_path, device=DeviceSettings(host=LOOPBACK), port=PortSettings(offset=offset), **more
    )


def names(spec):
    return [getattr(child, "name", None) or child.kind.name for child in spec.children]


def ports(spec):
    (listeners,) = [child for child in spec.children if getattr(child, "name", "") == "listeners"]
    return [child.kind.name for child in listeners.children]


async def test_servers_of_a_machine_listen_together_and_have_media_ports_of_their_own(
    settings, offset, database
):
    chosen = settings(protocols=("jt808", "jt1078"))
    bound = bind_shared_ports(chosen.device, offset, chosen.protocols)
    assert list(bound) == [5015 + offset]
    with bound[5015 + offset]:
        async with AsyncExitStack() as stack:
            for index in range(2):
                shared = SharedPorts(index=index, listening=bound)
                spec = fleet_tree(database, chosen, ports=shared)
                await stack.enter_async_context(open_system(spec))
            for number in (5263, 5264, 5363, 5364, 5463, 5464, 5563, 5564):
                stream = await trio.open_tcp_stream(LOOPBACK, number + offset)
                await stream.aclose()
            with pytest.raises(OSError, match="all attempts to connect"):
                await trio.open_tcp_stream(LOOPBACK, 5565 + offset)


@pytest.mark.parametrize(("login_seconds", "between"), [(30.0, 10.0), (3.0, 1.5)])
def test_each_connection_is_checked_twice_within_the_time_for_its_login(settings, login_seconds, between):
    chosen = replace(settings(), device=DeviceSettings(login_seconds=login_seconds))
    (spec,) = [
        each for each in fleet_tree(None, chosen).children if getattr(each, "kind", None) is CONNECTION
    ]
    assert (spec.tick, spec.tick_seconds) == (CheckDeadlines(), between)


def test_terminals_send_files_of_alarms_to_the_server_that_asked_them(settings, offset):
    own = tree._media_address(settings(), SharedPorts(index=2))
    assert own == MediaAddress("", 5265 + offset, 5365 + offset, 5565 + offset, 5465 + offset)
    alone = tree._media_address(settings(), None)
    assert alone == MediaAddress("", 5263 + offset, 5363 + offset, 5015 + offset, 5463 + offset)


def test_what_leans_on_others_stands_below_them(settings, tmp_path):
    order = [
        "upkeep",
        "position_writer",
        "directory",
        "media_requests",
        "devices",
        "recording",
        "streams",
        "segment_files",
        "playbacks",
        "connections",
        "listeners",
        "background",
    ]
    assert [name for name in names(fleet_tree(None, settings())) if name in order] == order
    http = ChildSpec(kind=Kind("http"), factory=Actor)
    with_all = fleet_tree(None, settings(), services=(http,), record=tmp_path / "traffic")
    assert names(with_all)[-1] == "services"
    assert names(with_all.children[0])[0] == "recorder"


@pytest.mark.parametrize(("clustered", "client_id"), [(False, "fleet"), (True, "fleet-7")])
def test_each_server_of_a_cluster_forwards_as_a_client_of_its_own(
    settings, monkeypatch, clustered, client_id
):
    made = []
    monkeypatch.setattr(tree, "Forwarder", lambda *arguments: made.append(arguments))
    forward = ForwardSettings(url="mqtt://broker.example", client_id="fleet")
    root = fleet_tree(None, settings(forward=forward), node=7, clustered=clustered)
    upkeep = root.children[0]
    upkeep.children[names(upkeep).index("forwarder")].factory()
    ((_, _, used),) = made
    assert used.client_id == client_id


def test_scheduled_commands_start_after_who_sends_for_them_and_read_again_where_he_crashed():
    schedule = schedule_spec(None)
    assert names(schedule) == ["dispatcher", "timetable"]
    assert schedule.strategy is Strategy.REST_FOR_ONE


def test_each_protocol_has_its_port_and_media_one_for_each_kind(settings):
    everything = ports(fleet_tree(None, settings()))
    assert everything == [
        *(
            f"listener:{name}{suffix}"
            for name, codec in sorted(CODECS.items())
            for suffix in ("", "-udp")[: 1 + codec.udp]
        ),
        "listener:jt1078-live",
        "listener:jt1078-playback",
        "listener:jt1078-talk",
    ]
    assert ports(fleet_tree(None, settings(protocols=("osmand",)))) == ["listener:osmand"]
    assert ports(fleet_tree(None, settings(protocols=()))) == []
    with pytest.raises(ValueError, match="no such protocol: gt07, nmea"):
        fleet_tree(None, settings(protocols=("osmand", "nmea", "gt07")))


async def position_stored(database, port, terminal):
    """A terminal reports and waits for the acknowledgement of its position."""
    stream = await trio.open_tcp_stream(LOOPBACK, port)
    async with stream:
        await stream.send_all(terminal.location(encode_location(1, 2, NOW)))
        answers = []
        while not answers:
            answers = terminal.receive(await stream.receive_some())
    assert answers[0].result == 0
    return await database.fetch_value("select count(*) from positions")


async def test_after_a_crash_what_leans_on_it_is_started_again_and_serves(
    database, make_device, settings, offset
):
    await make_device("13912345678")
    terminal = Terminal("13912345678")
    async with open_system(fleet_tree(database, settings())) as system:
        port = 5015 + offset
        with trio.fail_after(120):
            assert await position_stored(database, port, terminal) == 1
            standing = await trio.open_tcp_stream(LOOPBACK, port)
            await standing.send_all(terminal.heartbeat())
            assert terminal.receive(await standing.receive_some())
            system.ref(DIRECTORY).tell_nowait("nonsense")
            # The connection ends: the terminal will call again.
            assert await standing.receive_some() == b""
            await standing.aclose()
            while True:
                try:
                    assert await position_stored(database, port, terminal) == 2
                    break
                except OSError:
                    await trio.testing.wait_all_tasks_blocked(0.02)
            restarts = {child.path: child.restarts for child in system.snapshot()[0].children}
            assert restarts["position_writer"] == 0
            assert restarts["directory"] == 1
    with pytest.raises(OSError, match=r".*"):
        await trio.open_tcp_stream(LOOPBACK, port)


async def test_connections_that_have_ended_hold_nothing_until_garbage_is_collected(
    database, settings, offset
):
    def codecs():
        found = [each for each in gc.get_objects() if isinstance(each, tuple(CODECS.values()))]
        return [each for each in found if not any(each is other for other in of_other_tests)]

    gc.collect()
    of_other_tests = []
    of_other_tests = codecs()
    gc.disable()
    try:
        async with open_system(fleet_tree(database, settings())):
            with trio.fail_after(120):
                jt808 = await trio.open_tcp_stream(LOOPBACK, 5015 + offset)
                await jt808.send_all(b"~" + bytes(1000))
                osmand = await trio.open_tcp_stream(LOOPBACK, 5055 + offset)
                await osmand.send_all(
                    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200\r\n\r\n" + bytes(100)
                )
                while sum(each.buffered > 0 for each in codecs()) != 2:  # noqa: ASYNC110 - as below
                    await trio.sleep(0.01)
                await trio.aclose_forcefully(jt808)
                await trio.aclose_forcefully(osmand)
                while codecs():  # noqa: ASYNC110 - garbage notifies nobody
                    await trio.sleep(0.01)
    finally:
        gc.enable()
