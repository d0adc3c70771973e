"""Footage requests: recordings that are fetched once their vehicle is online."""

import secrets
from datetime import timedelta

import pytest
from tests.actors.helpdesk.clock.test_ticket_captures import Directory, Source, show
from tests.runtime.actor_testing import Probe

from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.footage.footage_requests import FootageRequests
from motorpool.actors.messages.access import ACCESS, MaySee
from motorpool.actors.messages.footage import FOOTAGE_REQUESTS, FootageRequestsChanged
from motorpool.actors.messages.playback import PLAYBACK, GetPlaybackState, PlaybackRequested, PlaybackState
from motorpool.actors.messages.publishing import Subscribe
from motorpool.actors.messages.uplink import CommandRefused, CommandSent, SendCommand
from motorpool.actors.video.capture import CAPTURE, capture_spec
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, SERVER_ENDED, CaptureRecords
from motorpool.actors.video.settings import CaptureSettings
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.accounts import users
from motorpool.storage.records import User
from motorpool.storage.video import footage_requests
from motorpool.storage.video.footage_requests import FootageRequest

HOUR = timedelta(hours=1)


class Server:
    """The actors of one server that footage requests take part in."""

    def __init__(self, database, neighbours, media, online=(), node=1):
        self.online = set(online)
        self.neighbours = neighbours
        self.visible = True
        self.state = None
        """What playbacks say of themselves."""
        holder = secrets.token_hex(8)
        self.specs = (
            ChildSpec(kind=ACCESS, factory=self._access),
            neighbours.devices_spec,
            neighbours.decoders_spec,
            neighbours.sound_spec,
            neighbours.renditions_spec,
            ChildSpec(kind=neighbours.directory_spec.kind, factory=lambda: Directory(self.online)),
            ChildSpec(
                kind=CAPTURE_RECORDS,
                factory=lambda: CaptureRecords(database, 8, node=node),
            ),
            capture_spec(database, MediaStore(media), CaptureSettings()),
            DynamicSpec(kind=PLAYBACK, name="playbacks", factory=lambda key: self._playback()),
            ChildSpec(kind=FOOTAGE_REQUESTS, factory=lambda: FootageRequests(database, holder)),
        )

    def _access(self):
        server = self

        class Access(Probe):
            def handle(self, message):
                return server.visible

        return Access({MaySee: True})

    def _playback(self):
        server = self

        class Playback(Source):
            def handle(self, message):
                return server.state if isinstance(message, GetPlaybackState) else super().handle(message)

        return Playback({Subscribe: None, GetPlaybackState: None})

    def commands(self, device):
        probe = self.neighbours.devices.get(device.id)
        return [message for message in probe.messages if isinstance(message, SendCommand)] if probe else []


@pytest.fixture
async def ann(database):
    return await users.TABLE.insert(database, User(name="ann", email="ann@example.org"))


@pytest.fixture
async def device(make_device, neighbours):
    made = await make_device("van 1")
    neighbours.device(made.id, {SendCommand: CommandSent()})
    return made


@pytest.fixture
def server(database, neighbours, tmp_path):
    return Server(database, neighbours, tmp_path)


@pytest.fixture
def ask(database, ann, device, clock):
    """`await ask(channel=1, until=…)`: a stored request of ann's for an hour ago, or why not."""

    async def asked(channel=1, user=ann, **changes):
        now = clock.now()
        begin = now - HOUR
        fields = {
            "start_time": begin,
            "end_time": begin + HOUR / 60,
            "created": now,
            "until": now + 24 * HOUR,
        }
        wanted = FootageRequest(
            device_id=device.id, channel=channel, user_id=user.id, **{**fields, **changes}
        )
        async with database.transaction() as transaction:
            return await footage_requests.add(transaction, wanted)

    return asked


async def states(database):
    rows = await database.fetch("select status, reason from footage_requests order by id")
    return [tuple(row.values()) for row in rows]


async def test_a_request_waits_for_its_device_over_restarts_and_ends_as_a_capture(
    database, tree, time, ask, ann, device, server, tmp_path
):
    request = await ask(channel=2)
    for _ in range(2):
        async with tree(*server.specs):
            await time.passes(60, step=10)
    assert await states(database) == [("WAITING", None)]
    async with tree(*server.specs) as system:
        server.online.add(device.id)
        await time.passes(10, step=1)
        (command,) = server.commands(device)
        assert (command.type, command.no_queue, command.user_id) == ("videoPlayback", True, ann.id)
        assert command.attributes == {
            "channel": 2,
            "startTime": request.start_time.isoformat(),
            "endTime": request.end_time.isoformat(),
        }
        assert await states(database) == [("FETCHING", None)]
        await show(system)
        await time.passes(3, step=1)
    assert await states(database) == [("COMPLETE", "the device ended it")]
    found = await footage_requests.fetch(database, request.id)
    assert (tmp_path / "van 1" / found.file_name).stat().st_size > 0
    (action,) = await database.fetch("select user_id, object_id, attributes from audit")
    assert (action["user_id"], action["object_id"]) == (ann.id, device.id)
    assert action["attributes"]["footageRequestId"] == request.id


async def test_one_at_a_time_of_a_vehicle_and_a_new_one_is_begun_at_once(
    database, tree, time, ask, device, server
):
    await ask(channel=1)
    await ask(channel=2)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(60, step=5)
        assert [state for state, _ in await states(database)] == ["FETCHING", "WAITING"]
        await show(system)
        await time.passes(8, step=1)
        assert [state for state, _ in await states(database)] == ["COMPLETE", "FETCHING"]
        await show(system)
        await time.passes(8, step=1)
        await ask(channel=3)
        await system.ref(FOOTAGE_REQUESTS).tell(FootageRequestsChanged())
        await time.settle()
        assert [state for state, _ in await states(database)] == ["COMPLETE", "COMPLETE", "FETCHING"]


@pytest.mark.parametrize(
    ("status", "unread", "begins"),
    [
        ("WAITING", None, False),
        ("RUNNING", 300.0, False),
        ("PAUSED", 300.0, False),
        ("ENDED", 5.0, False),
        ("ENDED", 61.0, True),
        ("ENDED", None, True),
    ],
)
async def test_what_a_viewer_watches_is_not_replaced(
    database, tree, time, ask, device, server, status, unread, begins
):
    server.state = PlaybackState(PlaybackRequested(), status, None, 6.0, None, unread)
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await system.ref(PLAYBACK, (device.id, 1)).ask(GetPlaybackState())
        await ask()
        await time.passes(31, step=1)
        assert [state for state, _ in await states(database)] == ["FETCHING" if begins else "WAITING"]


async def test_two_servers_fetch_once(database, tree, time, ask, device, neighbours, tmp_path):
    both = [Server(database, neighbours, tmp_path, [device.id], node) for node in (1, 2)]
    await ask()
    async with tree(*both[0].specs) as first, tree(*both[1].specs) as second:
        await time.passes(20, step=1)
        assert len([*first.keys(CAPTURE), *second.keys(CAPTURE)]) == 1
        await show(first if first.keys(CAPTURE) else second)
        await time.passes(200, step=20)
    assert await states(database) == [("COMPLETE", "the device ended it")]
    assert len(both[0].commands(device)) == 1


@pytest.mark.parametrize("is_known", [False, True])
async def test_what_a_server_that_is_gone_was_fetching_is_fetched_again_and_fails_after_three_times(
    database, tree, time, ask, device, neighbours, tmp_path, is_known
):
    await ask()
    for attempt in range(4):
        server = Server(database, neighbours, tmp_path, [device.id], attempt + 1)
        async with tree(*server.specs) as system:
            await time.passes(100, step=5)
            assert len(system.keys(CAPTURE)) == (attempt < 3), attempt
        if not is_known:
            await database.execute("delete from captures")
    reason = "nothing came that can be kept: the server was stopped" if is_known else SERVER_ENDED
    assert await states(database) == [("FAILED", reason)]
    assert len(server.commands(device)) == 3


async def test_what_the_end_of_its_server_cut_short_is_fetched_again_and_kept_at_the_last_attempt(
    database, tree, time, ask, device, neighbours, tmp_path
):
    await ask()
    for attempt in range(3):
        server = Server(database, neighbours, tmp_path, [device.id], attempt + 1)
        async with tree(*server.specs) as system:
            await time.passes(100, step=5)
            assert [state for state, _ in await states(database)] == ["FETCHING"], attempt
            await show(system, reason="")
            await time.settle()
    async with tree(*server.specs):
        await time.passes(100, step=5)
    assert await states(database) == [("COMPLETE", "the server was stopped")]
    assert len(server.commands(device)) == 3


async def test_a_refusal_is_the_reason_and_a_time_that_is_over_ends_the_wait(
    database, tree, time, ask, device, server, neighbours
):
    neighbours.devices[device.id] = Probe({SendCommand: CommandRefused("videoPlayback is not supported")})
    await ask()
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(10, step=1)
        neighbours.devices[device.id] = Probe()
        assert not system.keys(CAPTURE)
    assert await states(database) == [("FAILED", "videoPlayback is not supported")]
    server.online.clear()
    await ask()
    async with tree(*server.specs):
        await time.passes(24 * 3600 + 60, step=10_000)
    assert (await states(database))[1] == (
        "EXPIRED",
        "the device was not connected in time, or its other playbacks did not end",
    )


@pytest.mark.parametrize(
    "lost", ["device", "readonly", "limit_commands", "disable_reports", "disabled", "account"]
)
async def test_it_has_the_rights_that_its_user_has_at_that_moment(
    database, tree, time, ask, ann, device, server, lost
):
    await ask()
    if lost == "device":
        server.visible = False
    elif lost == "account":
        await database.execute("delete from users")
    else:
        await database.execute(f"update users set {lost} = true")
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(15, step=1)
        assert not system.keys(CAPTURE)
    wanted = [] if lost == "account" else [("FAILED", "the user may not capture video of the device")]
    assert await states(database) == wanted
    assert server.commands(device) == []


async def test_a_right_that_ends_and_a_request_that_is_taken_back_end_the_capture(
    database, tree, time, ask, device, server
):
    await ask()
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        await time.passes(10, step=1)
        assert len(system.keys(CAPTURE)) == 1
        server.visible = False
        await time.passes(10, step=1)
        assert not system.keys(CAPTURE)
        ((status, reason),) = await states(database)
        assert (status, "the user may not capture video of the device" in reason) == ("FAILED", True)
        server.visible = True
        second = await ask()
        await time.passes(10, step=1)
        assert len(system.keys(CAPTURE)) == 1
        await footage_requests.delete(database, second.id)
        await time.passes(5, step=1)
        assert not system.keys(CAPTURE)


async def test_open_requests_are_bounded_and_so_are_those_that_are_kept(
    database, ask, ann, monkeypatch, make_device
):
    monkeypatch.setattr(footage_requests, "MAX_OPEN_OF_USER", 3)
    monkeypatch.setattr(footage_requests, "MAX_OPEN_OF_DEVICE", 4)
    monkeypatch.setattr(footage_requests, "MAX_OPEN", 5)
    monkeypatch.setattr(footage_requests, "KEPT_OF_USER", 2)
    bob = await users.TABLE.insert(database, User(name="bob", email="bob@example.org"))
    for _ in range(3):
        assert isinstance(await ask(), FootageRequest)
    assert await ask() == "open footage requests of one user: 3 at most"
    assert isinstance(await ask(user=bob), FootageRequest)
    assert await ask(user=bob) == "open footage requests for one device: 4 at most"
    await database.execute("update footage_requests set status = 'FAILED', ended = now()")
    assert isinstance(await ask(), FootageRequest)
    assert len(await footage_requests.of_user(database, ann.id)) == 3


async def test_an_outage_of_the_database_is_waited_for(database, tree, time, ask, device, server, outage):
    await ask()
    server.online.add(device.id)
    async with tree(*server.specs) as system:
        with outage():
            await system.ref(FOOTAGE_REQUESTS).tell(FootageRequestsChanged())
            await time.passes(2, step=1)
        await time.passes(20, step=1)
        assert [state for state, _ in await states(database)] == ["FETCHING"]
