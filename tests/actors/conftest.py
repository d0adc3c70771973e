"""What tests of actors share: rows to start from, neighbours that record, sockets, a little film, and time.

Time stands still unless a test lets it pass. That is done in jumps while no statement is in flight
(docs/decisions/0029), so PostgreSQL and real sockets may take as long as they do.
"""

import socket
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from inspect import isawaitable
from time import perf_counter

import av
import pytest
import trio
from tests.runtime.actor_testing import Probe, TestClock, open_tree
from trio.testing import wait_all_tasks_blocked

from motorpool.actors.devices.position_writer import POSITION_WRITER
from motorpool.actors.gateway.deadlines import CHECK_SECONDS
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.downlink import CONNECTION, CheckDeadlines, Transmit, Transmitted
from motorpool.actors.messages.uplink import DEVICE, Connected
from motorpool.actors.video.decoders import DECODERS, EncodeJpeg, ProbeFormat
from motorpool.actors.video.media_requests import MEDIA_REQUESTS
from motorpool.actors.video.renditions import RENDITION
from motorpool.actors.video.sound import SOUND, TranscodeAudio
from motorpool.codecs.calendars.recurrence import StepLimit
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_transcoding import AudioTranscoder
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.snapshot import encode_jpeg, probe_format
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import ChildSpec, DynamicSpec, Failure, MailboxFull, Restart
from motorpool.storage.devices import devices
from motorpool.storage.records import Device

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
REAL_SECONDS = 0.001
"""Of quiet, in which the machine hands over what was sent to a socket of its own."""
UNTIL_SECONDS = 120.0
"""How long a test waits for what it expects, on the slowest machine."""


@pytest.fixture
def clock():
    """The wall stands on NOW and goes with Trio's clock."""
    return TestClock(NOW)


@pytest.fixture
def make_device(database):
    """`await make_device("13912345678", …)`: a row."""

    async def make(unique_id="13912345678", **fields):
        row = Device(name=unique_id, unique_id=unique_id, **fields)
        return await devices.TABLE.insert(database, row)

    return make


class Time(trio.abc.Clock):
    """Trio's clock, for tests that name the fixture `time`: it moves by `passes` alone."""

    def __init__(self):
        self.databases = []
        self._now = 1000.0
        self._let_go_at = None

    def start_clock(self):
        pass

    def current_time(self):
        if self._let_go_at is None:
            return self._now
        return self._now + perf_counter() - self._let_go_at

    def deadline_to_sleep_time(self, deadline):
        if self._let_go_at is None and deadline > self._now:
            return 999_999.0
        return max(0.0, deadline - self.current_time())

    def let_go(self):
        """Go by itself from now on: what is stopped must end, and not wait for this clock."""
        self._let_go_at = perf_counter()

    def hold(self):
        """Stand still again, for a system that is opened after another."""
        self._now, self._let_go_at = self.current_time(), None

    async def passes(self, seconds, step=None):
        """Let so many seconds pass, a step at a time."""
        # Trio takes the clock from the arguments of a test, and not from those of its fixtures.
        assert trio.lowlevel.current_clock() is self, "the test has to name the fixture `time` itself"
        left = seconds
        while left > 1e-9:
            await self.settle()
            self._now += min(left, step or seconds)
            left -= step or seconds
        await self.settle()

    async def settle(self):
        """Wait until all that was begun is done or waits for time; with or without this clock."""
        while True:
            await wait_all_tasks_blocked(REAL_SECONDS)
            threads = trio.to_thread.current_default_thread_limiter()
            if not threads.borrowed_tokens and not any(database.pool.acquired for database in self.databases):
                return


class CalendarSteps:
    """How many steps calendars have taken, in all threads."""

    def __init__(self):
        self.spent = 0


@pytest.fixture
def calendar_steps(monkeypatch):
    """Counts the steps of calendars: `calendar_steps.spent`."""
    counted, spend = CalendarSteps(), StepLimit.spend

    def count(limit, steps):
        counted.spent += steps
        spend(limit, steps)

    monkeypatch.setattr(StepLimit, "spend", count)
    return counted


@pytest.fixture
def time():
    """Time that stands still until `await time.passes(60, step=6)`."""
    return Time()


@pytest.fixture
def until(time):
    """`await until(condition)`: let everything happen but the passing of time, until it holds.

    The condition may be asynchronous. What never comes about fails after `UNTIL_SECONDS`, of the real time.
    """

    async def wait(condition):
        deadline = perf_counter() + UNTIL_SECONDS
        while True:
            await time.settle()
            found = condition()
            if await found if isawaitable(found) else found:
                return
            assert perf_counter() < deadline, f"{condition.__name__} does not come about"

    return wait


@pytest.fixture
def tree(clock, time):
    """`async with tree(spec, spec) as system:` small system; its end does not wait for the test's time."""

    @asynccontextmanager
    async def running(*specs, **settings):
        time.hold()
        async with open_tree(*specs, clock=clock, **settings) as system:
            try:
                yield system
            finally:
                time.let_go()

    return running


@pytest.fixture
def database(database, time):
    """An empty database whose statements `time` waits for."""
    time.databases.append(database)
    return database


@pytest.fixture
def outage(postgres, database_url):
    """`with outage():` the database refuses everybody meanwhile."""
    name = database_url.rpartition("/")[2].partition("?")[0]
    sessions = f"from pg_stat_activity where datname = '{name}'"

    @contextmanager
    def cut():
        postgres.run(f"alter database {name} with allow_connections false")
        for _ in range(100):
            postgres.run(f"select pg_terminate_backend(pid, 5000) {sessions}")
            # One that was being opened before is allowed in, and names its database only then.
            if postgres.run(f"select count(*) {sessions} or state = 'starting'") == "0":
                break
        try:
            yield
        finally:
            postgres.run(f"alter database {name} with allow_connections true")

    return cut


class InProcessDecoder(Probe):
    """Stands for the decoders, without their processes; records what it was asked for."""

    def handle(self, message):
        super().handle(message)
        try:
            if isinstance(message, EncodeJpeg):
                return encode_jpeg(message.codec.ffmpeg_name, message.keyframe)
            return probe_format(message.codec.ffmpeg_name, message.keyframe)
        except CodecError as error:
            return Failure(error)


class InProcessSound(Probe):
    """Stands for the processes for sound; records what it was asked for."""

    def __init__(self):
        super().__init__({TranscodeAudio: None})
        self.transcoders = {}

    def handle(self, message):
        super().handle(message)
        transcoder = self.transcoders.setdefault(message.stream, AudioTranscoder())
        try:
            return transcoder.transcode(message.frames, last=message.last)
        except CodecError as error:
            return Failure(error)


class Neighbours:
    """Probes in the places around an actor under test, made by its specs and by the test."""

    def __init__(self):
        self.writer = Probe()
        self.directory = Probe()
        self.media_requests = Probe()
        self.sound = InProcessSound()
        self.renditions = Probe()
        self.decoders = InProcessDecoder({EncodeJpeg: None, ProbeFormat: None})
        self.devices = {}
        self.connections = {}

    def connection(self, number, answers=None):
        """The spec's factory for a connection that records."""
        self.connections[number] = Probe(answers or {Transmit: Transmitted(None)})
        return self.connections[number]

    async def connect(self, system, number, answers=None):
        """A connection that records: its ref and its probe."""
        ref = await system.start(CONNECTION, number, lambda: self.connection(number, answers))
        return ref, self.connections[number]

    def device(self, device_id, answers=None):
        """The spec's factory for a device that records."""
        return self.devices.setdefault(device_id, Probe({Connected: None, **(answers or {})}))

    @property
    def writer_spec(self):
        return ChildSpec(kind=POSITION_WRITER, factory=lambda: self.writer)

    @property
    def directory_spec(self):
        return ChildSpec(kind=DIRECTORY, factory=lambda: self.directory)

    @property
    def media_requests_spec(self):
        return ChildSpec(kind=MEDIA_REQUESTS, factory=lambda: self.media_requests)

    @property
    def decoders_spec(self):
        return ChildSpec(kind=DECODERS, factory=lambda: self.decoders)

    @property
    def sound_spec(self):
        return ChildSpec(kind=SOUND, factory=lambda: self.sound)

    @property
    def renditions_spec(self):
        return DynamicSpec(kind=RENDITION, name="renditions", factory=lambda key: self.renditions)

    @property
    def devices_spec(self):
        return DynamicSpec(kind=DEVICE, name="devices", factory=self.device)

    @property
    def connections_spec(self):
        return DynamicSpec(
            kind=CONNECTION, name="connections", factory=None, restart=Restart.TEMPORARY, idle_seconds=None
        )

    @property
    def checked_connections_spec(self):
        """For real ones of devices, whose deadlines are checked by ticks."""
        return replace(self.connections_spec, tick=CheckDeadlines(), tick_seconds=CHECK_SECONDS)


@pytest.fixture
def neighbours():
    """Actors that record what they are told."""
    return Neighbours()


@pytest.fixture(scope="session")
def until_full():
    """`until_full(tell)`: call `tell(0)`, `tell(1)`, … until the mailbox is full; how many it took."""

    def count(tell):
        for number in range(100_000):
            try:
                tell(number)
            except MailboxFull:
                return number
        raise AssertionError("this mailbox is never full")

    return count


@pytest.fixture
def tcp():
    """Two ends of a connection over the loopback: ours, and the peer's, which never blocks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        theirs = socket.create_connection(listening.getsockname())
        ours, _ = listening.accept()
    theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is sent is there at once
    theirs.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


def heard(peer):
    """All that the peer has been sent so far; None once the connection is closed and empty."""
    got = b""
    while True:
        try:
            piece = peer.recv(65536)
        except BlockingIOError:
            return got
        except ConnectionError:
            return got or None
        if not piece:
            return got or None
        got += piece


@pytest.fixture(scope="session")
def read():
    """`read(peer)`: what the server has sent, None once it has closed the connection."""
    return heard


@lru_cache
def pictures(count, gop=5, fps=5):
    """Coded pictures, a key frame with parameter sets each `gop`."""
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 64, "yuv420p"
    encoder.framerate, encoder.time_base = Fraction(fps), Fraction(1, fps)
    encoder.max_b_frames = 0
    encoder.options = {
        "preset": "ultrafast",
        "tune": "zerolatency",
        "x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0:repeat-headers=1",
    }
    packets = []
    for number in range(count):
        frame = av.VideoFrame(64, 64, "yuv420p")
        for plane, value in zip(frame.planes, (16 + number % 200, 128, 128), strict=True):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts = number
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return tuple(packets)


@pytest.fixture(scope="session")
def film():
    """`film(seconds, channel=1, start=1000)`: pictures of a camera, five and one key frame a second."""

    def filmed(seconds, channel=1, start=1000):
        return [
            AccessUnit(channel, H264, number % 5 == 0, start + 200 * number, payload, 200)
            for number, payload in enumerate(pictures(5 * seconds))
        ]

    return filmed


def _cut_up(units):
    segmenter = Segmenter(1.0, live=False)
    cuts = [*(segmenter.push(unit, 0.0) for unit in units), segmenter.flush()]
    return [cut for cut in cuts if cut is not None]


@pytest.fixture(scope="session")
def cut_up():
    """`cut_up(units)`: the cuts of a film, a second each."""
    return _cut_up
