"""A server is replaced: another one starts on its database, then it stops, with video and a schedule
(docs/servers.md#behind-a-proxy).
"""

import contextlib
import queue
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import httpx
import pytest
import trio
from tests.journeys.test_captures import capture_of, captured, device_of, fetched, footage, sent
from tests.journeys.test_schedules import calendar_of, history, saved, schedule, soon

from motorpool.bench.server import EMAIL
from motorpool.bench.target import Target
from motorpool.bench.vehicles.fleet import plan_fleet
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    LiveVideoRequest,
    TerminalControl,
)
from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.runtime import SystemClock

PHONE, ABSENT = "13955550071", "13955550072"
STOP, RESUME = 0x64, 0x65
SIMULATED = 2
"""Simulated terminals; one of each version of JT/T 808."""


class Vehicle:
    """A terminal over its connections: what was acknowledged, and the orders it was sent."""

    def __init__(self, peer, acknowledged, orders):
        self.peer, self.acknowledged, self.orders = peer, acknowledged, orders
        self._messages, peer.messages = peer.messages, self.wait
        peer.sign_in()

    def report(self, time):
        serial = self.peer.terminal.serial
        self.peer.send(self.peer.terminal.location(encode_location(41.15, -8.61, time)))
        self.wait(lambda message: isinstance(message, GeneralResponse) and message.answered_serial == serial)
        self.acknowledged.append(time)

    def wait(self, wanted):
        """What the server says until `wanted(message)`; orders among it are noted, wherever they come."""

        def note(message):
            if isinstance(message, TerminalControl):
                self.orders.append(message.command)
            return wanted(message)

        return self._messages(note)

    def film(self, units, asked):
        media = socket.create_connection((asked.host, asked.tcp_port), timeout=60)
        media.sendall(b"".join(map(Jt1078Sender(PHONE).encode, units)))
        return media


def is_live_request(message):
    return isinstance(message, LiveVideoRequest)


@contextlib.contextmanager
def simulated(*ports):
    """Simulated terminals behind a TCP proxy that takes the first of the servers which does not refuse.

    The value has the port that each of their connections went to, in order.
    """
    calls, started = [], queue.SimpleQueue()

    async def pass_on(source, target, scope):
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for content in source:
                await target.send_all(content)
        scope.cancel()

    async def forward(terminal):
        for port in ports:
            with contextlib.suppress(OSError):
                server = await trio.open_tcp_stream("127.0.0.1", port)
                break
        calls.append(port)
        async with server, trio.open_nursery() as nursery:
            nursery.start_soon(pass_on, terminal, server, nursery.cancel_scope)
            nursery.start_soon(pass_on, server, terminal, nursery.cancel_scope)

    async def drive():
        async with trio.open_nursery() as nursery:
            listen = partial(trio.serve_tcp, forward, 0, host="127.0.0.1")
            (listener,) = await nursery.start(listen)
            started.put((trio.lowlevel.current_trio_token(), nursery.cancel_scope))
            target = Target(host="127.0.0.1", port_offset=listener.socket.getsockname()[1] - Jt808.port)
            fleet = plan_fleet(vehicles=SIMULATED, interval_seconds=1.0)
            await fleet.run(target, SystemClock())

    with ThreadPoolExecutor(1) as pool:
        driven = pool.submit(trio.run, drive)
        token, scope = started.get()
        try:
            yield calls
        finally:
            trio.from_thread.run_sync(scope.cancel, trio_token=token)
            driven.result()


def online(client):
    return sum(device["status"] == "online" for device in client.get("/devices").json())


@pytest.mark.timeout(300)
def test_a_server_is_replaced_while_all_goes_on(start_server, database_url, connected, eventually):
    settings = {
        "MOTORPOOL_CLUSTER_NAME": "north",
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
    }
    units, acknowledged, orders = footage(4), [], []
    began = SystemClock().now().replace(microsecond=0) - timedelta(minutes=5)
    with contextlib.ExitStack() as stack:
        leaving = stack.enter_context(start_server(settings))
        client = stack.enter_context(leaving.client())
        first = Vehicle(stack.enter_context(connected(leaving, PHONE, sign_in=False)), acknowledged, orders)
        device_id = device_of(client, first.peer)
        capture = capture_of(client, device_id, live="true", minutes=10)
        with connected(leaving, ABSENT) as peer:
            absent = device_of(client, peer)
            assert eventually(lambda: online(client) == 2)
        assert eventually(lambda: online(client) == 1)
        stop = {"deviceId": absent, "type": "engineStop"}
        assert client.post("/commands/send", json=stop).status_code == 202
        with first.film(units, first.wait(is_live_request)[-1]):
            assert eventually(lambda: client.get(f"/captures/{capture['id']}").json()["size"])
            assert client.get(f"/stream/{device_id}/1/live.m3u8").status_code == 200
            for second in range(3):
                first.report(began + timedelta(seconds=second))

            # They share the folder of files.
            shared = {**settings, "MOTORPOOL_DATA": str(leaving.folder / "data")}
            staying = stack.enter_context(start_server(shared))
            other = stack.enter_context(
                httpx.Client(base_url=f"{staying.url}/api", auth=(EMAIL, leaving.password), timeout=60)
            )
            assert "in another folder" not in leaving.log + staying.log
            calls = stack.enter_context(simulated(leaving.jt808_port, staying.jt808_port))
            assert eventually(lambda: online(client) == 1 + SIMULATED)
            resume, now = saved(client, "engineResume"), SystemClock().now()
            opened = now - timedelta(hours=1)
            calendar = calendar_of(client, opened, now + timedelta(hours=1))
            number = schedule(client, calendar, end=[(resume, 0)], devices=[device_id], queueMaxMinutes=60)
            calendar_of(client, opened, soon(5), calendar)
            first.report(began + timedelta(seconds=3))
            leaving.process.terminate()
            # What comes until the connection ends; the schedule may have fired already.
            with pytest.raises((AssertionError, ConnectionError), match=r"closed by the server|reset"):
                first.wait(lambda _: False)
            assert leaving.process.wait(60) == 0

        # The capture is whole, with what came, and the other server answers for it.
        record = other.get(f"/captures/{capture['id']}").json()
        assert (record["status"], record["reason"]) == ("COMPLETE", "the server was stopped")
        assert other.get("/captures", params={"deviceId": device_id}).json() == [record]
        assert len(fetched(other, record)) == record["size"]
        (path,) = (leaving.folder / "data" / "media").rglob(capture["fileName"])
        pictures, _ = captured(path.read_bytes(), H264)
        expected, _ = sent(units, H264)
        assert len(pictures) >= 10
        assert pictures == expected[: len(pictures)]

        second = Vehicle(stack.enter_context(connected(staying, PHONE, sign_in=False)), acknowledged, orders)
        second.report(began + timedelta(seconds=4))
        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(other.get, f"/stream/{device_id}/1/live.m3u8")
            with second.film(units, second.wait(is_live_request)[-1]):
                assert watching.result().status_code == 200

        if not orders:
            second.wait(lambda message: isinstance(message, TerminalControl))
        assert eventually(lambda: history(other, number))
        assert [(phase, command) for phase, _, command, _ in history(other, number)] == [("end", resume)]
        assert orders == [RESUME]
        span = {"from": began.isoformat(), "to": (began + timedelta(hours=1)).isoformat()}
        found = other.get("/positions", params={"deviceId": device_id, **span}).json()
        assert [position["fixTime"][:19] for position in found] == [
            time.isoformat()[:19] for time in acknowledged
        ]

        # The others are back with their first attempt, after the pause that they make before it.
        assert eventually(lambda: online(other) == 1 + SIMULATED)
        assert calls == [leaving.jt808_port] * SIMULATED + [staying.jt808_port] * SIMULATED

        # What waited for a device that was not there is sent once.
        late, told = [], []
        for minute in range(2):
            with connected(staying, ABSENT, sign_in=False) as peer:
                back = Vehicle(peer, late, told)
                if not told:
                    order = back.wait(lambda message: isinstance(message, TerminalControl))[-1]
                    peer.send(peer.terminal.general_response(order))
                back.report(began + timedelta(minutes=minute))
        assert told == [STOP]
