"""What devices at one server do is seen at the others: status, positions, events."""

import re
import shutil
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import trio
from tests.cluster.fake_pipe import FakeNetwork

from motorpool.actors.cluster import broadcasts, change_relay, live_relay
from motorpool.actors.cluster.broadcasts import LinkBroadcasts, NotifyBroadcasts
from motorpool.actors.cluster.change_relay import ChangeRelay
from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.cluster.live_relay import LiveRelay
from motorpool.actors.devices.directory import Directory
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.messages.directory import (
    DIRECTORY,
    DeviceStatusChanged,
    GetDeviceStatuses,
    GetLatestPositions,
)
from motorpool.actors.messages.homes import LIVING_SERVERS
from motorpool.actors.messages.topics import (
    ADDRESSED_POSITIONS,
    DEVICES,
    LATEST_POSITIONS,
    POSITIONS,
    REVIEWS,
    WEB_EVENTS,
    DeviceStatus,
    ReviewsChanged,
    WebEvent,
    WebEventsLost,
    publish_events,
)
from motorpool.actors.messages.uplink import DEVICE, GetCommandTypes, StoredElsewhere
from motorpool.runtime import ChildSpec, Link, SharedTime, SupervisorSpec, SystemClock, TaskSpec, open_system
from motorpool.storage.database import nodes
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.events import events
from motorpool.storage.records import Event, Position, Review

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def position(number, device_id, minutes=0, **fields):
    times = dict.fromkeys(("server_time", "device_time", "fix_time"), NOW + timedelta(minutes=minutes))
    return Position(id=number, device_id=device_id, protocol="jt808", **times, **fields)


class Server:
    """A system with the directory and both relays, and what its clients would get."""

    def __init__(self, database, system, node, cluster_statuses, media, pipe):
        self.pipe = pipe
        self.database = database
        self.system = system
        self.node = node
        self.cluster_statuses = cluster_statuses
        self.media = media
        self.latest = []
        self.statuses = []
        self.events = []
        system.topic(LATEST_POSITIONS).listen(self.latest.extend)
        system.topic(DEVICES).listen(self.statuses.extend)
        system.topic(WEB_EVENTS).listen(self.events.append)

    async def store(self, *stored):
        rows = [position_rows.pack_row(each) for each in stored]
        await positions.store(self.database, rows, [each.id for each in stored])
        self.system.topic(POSITIONS).publish(stored)

    def says(self, device_id, status, minutes=0):
        seen = DeviceStatus(device_id, status, NOW + timedelta(minutes=minutes), 0)
        self.system.ref(DIRECTORY).tell_nowait(DeviceStatusChanged(seen))

    def notifies(self, number):
        event = Event(id=number, type="alarm", event_time=NOW, attributes={"message": "Help"})
        self.system.topic(WEB_EVENTS).publish(WebEvent(frozenset({1, 2}), event))

    async def status(self, device_id, *, here=False):
        asked = GetDeviceStatuses((device_id,), here=here)
        return (await self.system.ref(DIRECTORY).ask(asked))[device_id]

    async def until_status(self, device_id, status):
        async def is_so():
            return (await self.status(device_id)).status == status

        await until(is_so)

    async def latest_of(self, device_id):
        found = await self.system.ref(DIRECTORY).ask(GetLatestPositions((device_id,)))
        return found[0] if found else None


async def until(condition):
    with trio.fail_after(120):
        while not await condition():  # noqa: ASYNC110 - an actor is asked
            await trio.sleep(0.01)


async def until_in(item, items):
    async def is_there():
        return item in items

    await until(is_there)


@pytest.fixture(params=["notify", "link"])
async def open_server(request, database, monkeypatch, neighbours, tmp_path):
    """`async with open_server() as server`: one of a cluster; its files are in the folder `media`."""
    async with trio.open_nursery() as nursery:
        network = FakeNetwork(nursery) if request.param == "link" else None
        yield opener(network, database, monkeypatch, neighbours, tmp_path)
        nursery.cancel_scope.cancel()


def opener(network, database, monkeypatch, neighbours, tmp_path):
    monkeypatch.setattr(change_relay, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(broadcasts, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(live_relay, "SEND_SECONDS", 0.02)
    monkeypatch.setattr(live_relay, "STOP_SECONDS", 60.0)

    class Opened:
        def __init__(self, media="media"):
            self._media = tmp_path / media

        async def __aenter__(self):
            async with database.session() as session:
                node = await nodes.join(session, "north", "a server of tests", "0")
            cluster_statuses = ClusterStatuses()
            if network is None:
                self._pipe = None
                reached = NotifyBroadcasts(database, live_relay.CHANNEL)
            else:
                self._pipe = network.pipe()
                reached = LinkBroadcasts(
                    Link(self._pipe, node, SharedTime(SystemClock())), live_relay.CHANNEL
                )
            self._system = open_system(
                SupervisorSpec(
                    name="system",
                    intensity=None,
                    children=(
                        ChildSpec(
                            kind=DIRECTORY,
                            factory=lambda: Directory(database, {}, cluster_statuses),
                        ),
                        neighbours.devices_spec,
                        TaskSpec(name="change_relay", factory=lambda: ChangeRelay(database)),
                        TaskSpec(
                            name="live_relay",
                            factory=lambda: LiveRelay(
                                database, node, cluster_statuses, MediaStore(self._media), reached
                            ),
                        ),
                    ),
                )
            )
            system = await self._system.__aenter__()
            return Server(database, system, node, cluster_statuses, self._media, self._pipe)

        async def __aexit__(self, *error):
            return await self._system.__aexit__(*error)

    return Opened


@pytest.fixture
async def servers(open_server, make_device):
    """Two servers that see each other, and nothing more."""
    signal = (await make_device("signal")).id
    async with open_server() as one, open_server() as other:
        for each, sender in ((one, other), (other, one)):
            sender.says(signal, "online")

            async def sees(each=each):
                return each.cluster_statuses.is_online(signal)

            await until(sees)
        yield one, other


async def test_position_and_status_are_those_of_the_other_server(servers, make_device):
    one, other = servers
    van = (await make_device("van")).id
    assert await other.latest_of(van) is None
    one.says(van, "online")
    first = position(1, van, latitude=41.15, attributes={"ignition": True})
    await one.store(first)
    await until_in(first, other.latest)
    await other.until_status(van, "online")

    async def has_position():
        return await other.latest_of(van) == first

    await until(has_position)
    assert await other.status(van) == DeviceStatus(van, "online", NOW, 1)
    assert await other.status(van, here=True) == DeviceStatus(van, "offline", NOW, 1)
    # An older fix that is stored later is shown, as at the first server, and is not the latest.
    late = position(2, van, -5)
    await one.store(late)
    await until_in(late, other.latest)
    addressed = msgspec.structs.replace(first, address="Rua Nova")
    one.system.topic(ADDRESSED_POSITIONS).publish((addressed,))
    await until_in(addressed, other.latest)

    async def has_address():
        return await other.latest_of(van) == addressed

    await until(has_address)
    one.says(van, "unknown", 1)
    await other.until_status(van, "unknown")
    assert (await other.status(van)).last_update == NOW + timedelta(minutes=1)
    # Nothing has come back to the server that it was from.
    assert one.latest in ([], [addressed])


async def test_of_many_positions_the_latest_of_each_device_arrives(servers, make_device):
    one, other = servers
    vans = [(await make_device(f"van {n}")).id for n in range(40)]
    for van in vans:
        await other.latest_of(van)
    stored = [position(100 * n + k, van, k) for n, van in enumerate(vans, start=1) for k in range(20)]
    long = {"text": "x" * 9_000}
    stored += [position(9_000, vans[0], 99, attributes=long), position(9_001, vans[0], 98)]
    for start in range(0, len(stored), 100):
        await one.store(*stored[start : start + 100])
    newest = {each.device_id: each for each in sorted(stored, key=lambda each: each.fix_time)}

    async def has_all():
        return [await other.latest_of(van) for van in vans] == [newest[van] for van in vans]

    await until(has_all)


async def test_what_cannot_be_the_latest_hides_no_other(servers, make_device):
    one, other = servers
    van, bus = [(await make_device(name)).id for name in ("van", "bus")]
    for each in (van, bus):
        await other.latest_of(each)
    # By a clock that is wrong, and from the far future: both are later than what comes after them.
    wrong = position(1, van, 60, attributes={"implausible": True})
    ahead = msgspec.structs.replace(position(2, bus, 5_000), server_time=NOW)
    told = [position(3, van, 1), position(4, bus, 1)]
    await one.store(wrong, ahead, *told)

    async def has_told():
        return [await other.latest_of(each) for each in (van, bus)] == told

    await until(has_told)


async def test_a_device_that_is_there_learns_that_another_server_stores_its_positions(
    servers, make_device, neighbours
):
    one, other = servers
    van, asleep = [(await make_device(name)).id for name in ("van", "asleep")]
    neighbours.device(van, {GetCommandTypes: ()})
    await other.system.ref(DEVICE, van).ask(GetCommandTypes())
    await one.store(position(1, van), position(2, asleep))

    async def has_learned():
        return neighbours.devices[van].messages[1:] == [StoredElsewhere()]

    await until(has_learned)
    assert asleep not in neighbours.devices


async def test_events_arrive_once_at_the_other_and_do_not_come_back(servers):
    one, other = servers
    for number in range(30):
        one.notifies(number)
    other.notifies(100)

    async def has_all():
        return len(other.events) >= 31 and len(one.events) >= 31

    await until(has_all)
    for server, ids in ((one, [*range(30), 100]), (other, [100, *range(30)])):
        assert sorted(each.event.id for each in server.events) == sorted(ids)
        assert all(each.user_ids == {1, 2} for each in server.events)
        remote = {each.event.id for each in server.events if each.is_remote}
        assert remote == ({100} if server is one else set(range(30)))


async def test_a_device_that_moves_stays_online(servers, make_device):
    one, other = servers
    van = (await make_device("van")).id
    one.says(van, "online")
    await other.until_status(van, "online")
    other.says(van, "online", 1)

    async def knows():
        return one.cluster_statuses.is_online(van)

    await until(knows)
    one.statuses.clear()
    other.statuses.clear()
    one.says(van, "offline", 2)

    async def has_arrived():
        return not other.cluster_statuses.is_online(van)

    await until(has_arrived)
    for server in servers:
        assert (await server.status(van)).status == "online"
        assert {each.status for each in server.statuses if each.device_id == van} <= {"online"}
    other.says(van, "offline", 3)
    for server in servers:
        await server.until_status(van, "offline")


async def test_a_server_that_starts_learns_the_status_of_all_devices(servers, open_server, make_device):
    one, other = servers
    van, truck = [(await make_device(name)).id for name in ("van", "truck")]
    one.says(van, "online")
    other.says(truck, "unknown")
    async with open_server() as third:
        await third.until_status(van, "online")
        await third.until_status(truck, "unknown")
        assert (await third.status(van)).last_update == NOW


async def test_the_devices_of_a_dead_server_are_offline(servers, open_server, make_device, database):
    van = (await make_device("van")).id
    async with open_server() as third:
        third.says(van, "online")
        for server in servers:
            await server.until_status(van, "online")
        # As if killed: its row is not renewed, and it has not left.
        await nodes.leave(database, third.node)
        for server in servers:
            await server.until_status(van, "offline")
            await until_in(WebEventsLost(), server.events)
            assert (await server.status(van)).last_update == NOW


async def test_reviews_arrive_at_the_other_as_they_are_in_the_database(servers, database):
    one, other = servers
    made = [Event(type="alarm", event_time=NOW, device_id=1, review=Review()) for _ in range(2)]
    await events.assign_ids(database, made)
    await events.insert_many(database, made)
    told = {server: [] for server in servers}
    for server in servers:
        server.system.topic(REVIEWS).listen(told[server].append)
    await events.set_review(database, made[1].id, Review("DISMISSED", version=2))
    publish_events(one.system, tuple(made))

    async def has_both():
        return told[other]

    await until(has_both)
    (changed,) = told[other]
    assert changed.is_remote
    assert [each.review for each in changed.events] == [Review(), Review("DISMISSED", version=2)]
    assert told[one] == [ReviewsChanged(tuple(made))]


async def test_the_end_of_a_server_loses_no_events(servers, open_server, database):
    one, other = servers
    looks = []
    other.system.topic(LIVING_SERVERS).listen(looks.append)
    async with open_server() as third:
        third.notifies(1)
    # Texts arrive in the order of their commits: with this one the other has those of the third.
    one.notifies(2)

    async def has_events():
        return [each.event.id for each in other.events if isinstance(each, WebEvent)] == [1, 2]

    await until(has_events)
    await nodes.leave(database, third.node)

    async def has_looked():
        return looks and third.node not in looks[-1].numbers

    await until(has_looked)
    assert WebEventsLost() not in other.events


async def test_after_a_lost_connection_all_is_as_in_the_database(servers, make_device, database):
    one, other = servers
    van, truck = [(await make_device(name)).id for name in ("van", "truck")]
    one.says(truck, "online")
    await other.until_status(truck, "online")
    assert await other.latest_of(van) is None
    stored = position(7, van, 5)
    # Not sent, as by a server that is killed before it could.
    await positions.store(database, [position_rows.pack_row(stored)], [stored.id])
    if one.pipe is None:
        assert await database.fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and (query like '%pg_notify%' or query ilike 'listen%motorpool_live%')"
        )
    else:
        for each in (one, other):
            each.pipe.cut()
        for each in (one, other):
            each.pipe.mend()
    await until_in(stored, other.latest)
    await until_in(WebEventsLost(), other.events)

    async def has_position():
        return await other.latest_of(van) == stored

    await until(has_position)
    one.says(van, "online", 6)
    await other.until_status(van, "online")
    assert (await other.status(truck)).status == "online"


def warnings_of_files(caplog):
    """Who keeps files apart, as servers have logged it."""
    return sorted(map(int, re.findall(r"server (\d+) keeps the files of devices in another", caplog.text)))


async def test_servers_that_keep_their_files_apart_say_so(open_server, make_device, caplog):
    van = (await make_device("van")).id
    async with open_server() as one, open_server() as other:
        one.says(van, "online")
        await other.until_status(van, "online")
        # A copy is another folder.
        shutil.copytree(one.media, one.media.with_name("copy"))
        assert warnings_of_files(caplog) == []
        async with open_server("copy") as third:
            expected = sorted([third.node, third.node, one.node, other.node])

            async def all_have_said_so():
                return warnings_of_files(caplog) == expected

            await until(all_have_said_so)


async def test_a_server_whose_files_cannot_be_kept_says_so_and_goes_on(
    open_server, make_device, caplog, tmp_path
):
    (tmp_path / "file").touch()
    van, truck = [(await make_device(name)).id for name in ("van", "truck")]
    async with open_server() as one, open_server("file/media") as other:
        assert "files of devices cannot be kept" in caplog.text
        one.says(van, "online")
        await other.until_status(van, "online")
        other.says(truck, "online")
        await one.until_status(truck, "online")
        assert warnings_of_files(caplog) == []
