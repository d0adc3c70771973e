"""Device, server, socket: what a user says arrives at the terminal, and what the driver answers is heard."""

import array
import base64
import math
from contextlib import asynccontextmanager, contextmanager, suppress

import pytest
import trio
from trio_websocket import ConnectionClosed, open_websocket_url

from motorpool.bench.server import EMAIL
from motorpool.bench.target import Target
from motorpool.bench.vehicles.cab import Cab, read_wav, write_wav
from motorpool.bench.vehicles.camera import VideoFormat
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.on_board_unit import OnBoardUnit
from motorpool.bench.vehicles.vehicle import Vehicle, VehiclePlan
from motorpool.codecs.media.jt1078 import MEDIA_PORTS
from motorpool.codecs.media.telephone_sound import CODINGS, FRAME_BYTES
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime.clock import SystemClock

PATIENCE = 120.0
RATE = 8000


def chirp(low, high, seconds):
    """A tone that rises, as samples."""
    samples, phase = array.array("h"), 0.0
    for number in range(round(seconds * RATE)):
        phase += math.tau * (low + (high - low) * number / (seconds * RATE)) / RATE
        samples.append(round(9000 * math.sin(phase)))
    return samples.tobytes()


SAID, ANSWER = chirp(300, 1500, 0.9), chirp(2000, 800, 0.8)
"""Shorter than what waits at the server before it drops the oldest: a busy machine may stand still."""


def likeness(wanted, heard):
    """The best correlation of a sound with what was heard, at any delay."""
    wanted, heard = array.array("h", wanted), array.array("h", heard)
    best = 0.0
    norm = math.sqrt(sum(sample * sample for sample in wanted))
    # A fifth of the samples, first roughly where it is loud.
    loud = next((at for at, sample in enumerate(heard) if abs(sample) > 3000), 0)
    for start in range(max(0, loud - 400), min(loud + 400, len(heard) - len(wanted) + 1)):
        part = heard[start : start + len(wanted)]
        product = sum(a * b for a, b in zip(wanted[::5], part[::5], strict=True)) * 5
        power = math.sqrt(sum(sample * sample for sample in part[::5]) * 5) or 1.0
        best = max(best, product / norm / power)
    return best


def plan_of(phone, cab):
    return VehiclePlan(
        name=phone,
        phone=phone,
        version=2019 if cab.coding is AudioCoding.G711U else 2013,
        plate="B-MP 1",
        trip=0,
        backwards=False,
        seed=1,
        channels=1,
        interval_seconds=30,
        video=VideoFormat(),
        cab=cab,
    )


@asynccontextmanager
async def on_the_road(server, *plans):
    """Run terminals until the block ends; their devices are online when it begins."""
    target = Target(host=server.host, port_offset=server.offset)
    units = [OnBoardUnit(Vehicle(plan), target, EncodingThread(), SystemClock()) for plan in plans]
    async with trio.open_nursery() as nursery:
        for unit in units:
            nursery.start_soon(unit.run)
        with trio.fail_after(PATIENCE):
            while not all(unit.is_logged_in for unit in units):  # noqa: ASYNC110 - they have no event for it
                await trio.sleep(0.05)
        yield
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_talk(server, device_id, email, password):
    credentials = base64.b64encode(f"{email}:{password}".encode()).decode()
    address = f"ws://{server.host}:{server.offset}/api/stream/{device_id}/1/talk?errors=close"
    async with open_websocket_url(
        address, extra_headers=[("Authorization", f"Basic {credentials}")]
    ) as socket:
        try:
            yield socket
        finally:
            # trio-websocket leaves the stream open that the server has closed.
            with trio.CancelScope(shield=True):
                await socket.aclose()
                await socket._stream.aclose()


async def talk(server, device_id, password):
    """Say what is to be said, and listen for a while; return what was heard."""
    heard = bytearray()
    async with open_talk(server, device_id, EMAIL, password) as socket:

        async def listen():
            while True:
                heard.extend(await socket.get_message())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen)
            # At once: in a pause of a busy machine the server would send silence.
            for start in range(0, len(SAID), FRAME_BYTES):
                await socket.send_message(SAID[start : start + FRAME_BYTES])
            await trio.sleep(4)
            nursery.cancel_scope.cancel()
    return bytes(heard)


async def refusal(server, device_id, email=EMAIL, password=""):
    """The code and reason with which a talk is closed that should not begin, or that ends."""
    async with open_talk(server, device_id, email, password) as socket:
        return await end_of(socket)


async def end_of(socket):
    """Wait until the server closes a talk; return its code and reason."""
    with trio.fail_after(PATIENCE):
        try:
            while True:
                await socket.get_message()
        except ConnectionClosed as closed:
            return closed.reason.code, closed.reason.reason


def device_of(client, phone):
    return next(each["id"] for each in client.get("/devices?all=true").json() if each["uniqueId"] == phone)


@contextmanager
def user_of(client, name, device_id, **fields):
    body = {"name": name, "email": f"{name}@example.org", "password": "correct horse", **fields}
    made = client.post("/users", json=body)
    assert made.status_code == 200, made.text
    number = made.json()["id"]
    assert client.post("/permissions", json={"userId": number, "deviceId": device_id}).status_code == 204
    yield number
    client.delete(f"/users/{number}")


async def test_what_is_said_arrives_in_each_coding_and_the_answer_is_heard(server, tmp_path):
    answer = tmp_path / "answer.wav"
    write_wav(answer, ANSWER)
    folders = {coding: tmp_path / coding.value for coding in sorted(CODINGS, key=lambda each: each.value)}
    plans = {}
    for number, (coding, folder) in enumerate(folders.items()):
        folder.mkdir()
        plans[coding] = plan_of(f"1391000700{number}", Cab(coding=coding, answer=answer, folder=folder))
    heard = {}
    async with on_the_road(server, *plans.values()):
        with server.client() as client:
            ids = {coding: device_of(client, plan.phone) for coding, plan in plans.items()}

            async def call(coding):
                heard[coding] = await talk(server, ids[coding], server.password)

            with trio.fail_after(PATIENCE):
                async with trio.open_nursery() as nursery:
                    for coding in plans:
                        nursery.start_soon(call, coding)
                for folder in folders.values():
                    while not list(folder.glob("*.wav")):  # noqa: ASYNC110 - the file is awaited
                        await trio.sleep(0.05)
            entries = client.get("/audit?from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z").json()
    for coding, folder in folders.items():
        (file,) = folder.glob("*.wav")
        assert likeness(SAID, read_wav(file)) > 0.9, coding
        assert likeness(ANSWER, heard[coding]) > 0.9, coding
        acts = [each for each in entries if each["objectId"] == ids[coding] and "talk" in each["actionType"]]
        assert [each["actionType"] for each in acts] == ["talkStart", "talkEnd"]
        assert acts[1]["attributes"].items() >= {"channel": 1, "reason": "the user has left"}.items()


async def test_who_may_not_talk_is_told_why_and_a_talk_ends_with_the_right(server):
    plan = plan_of("13910007010", Cab())
    async with on_the_road(server, plan):
        with server.client() as client:
            device_id = device_of(client, plan.phone)
            with (
                user_of(client, "ann", device_id) as ann,
                user_of(client, "limited", device_id, limitCommands=True),
                user_of(client, "reader", device_id, readonly=True),
            ):
                password = "correct horse"
                assert (await refusal(server, device_id, "limited@example.org", password))[0] == 4403
                assert (await refusal(server, device_id, "reader@example.org", password))[0] == 4403
                assert (await refusal(server, device_id, "ann@example.org", "wrong"))[0] == 4401
                assert (await refusal(server, 999_999, "ann@example.org", password))[0] == 4404
                async with open_talk(server, device_id, "ann@example.org", password) as hers:
                    await hers.get_message()
                    assert await refusal(server, device_id, EMAIL, server.password) == (
                        4409,
                        "ann talks to the driver already",
                    )
                    link = {"userId": ann, "deviceId": device_id}
                    assert client.request("DELETE", "/permissions", json=link).status_code == 204
                    assert await end_of(hers) == (1008, "no such device")
            answer = client.get(f"/stream/{device_id}/1/talk")
            assert (answer.status_code, answer.text) == (400, "this is a WebSocket")


async def test_a_terminal_without_a_known_coding_is_refused_by_its_name_and_one_that_is_away(server):
    plan = plan_of("13910007011", Cab(coding=AudioCoding.AAC))
    async with on_the_road(server, plan):
        with server.client() as client:
            device_id = device_of(client, plan.phone)
        assert await refusal(server, device_id, password=server.password) == (
            4400,
            "the terminal speaks AAC: talk needs G.711, G.726 or ADPCM",
        )
    with server.client() as client, trio.fail_after(PATIENCE):
        while client.get(f"/devices/{device_id}").json()["status"] != "offline":  # noqa: ASYNC110 - asked by HTTP
            await trio.sleep(0.1)
    assert await refusal(server, device_id, password=server.password) == (4400, "the device is offline")


@pytest.mark.timeout(180)
async def test_a_driver_is_talked_to_through_another_server_until_theirs_is_killed(
    start_server, database_url, tmp_path
):
    settings = {
        "MOTORPOOL_CLUSTER_NAME": "north",
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_NODE_ADDRESS": "http://127.0.0.1:0",
    }
    write_wav(tmp_path / "answer.wav", ANSWER)
    plan = plan_of("13910007020", Cab(answer=tmp_path / "answer.wav", folder=tmp_path / "heard"))
    (tmp_path / "heard").mkdir()
    # The administrator is made by the server that starts first.
    with start_server(settings) as asked, start_server(settings) as home:
        async with on_the_road(home, plan):
            with asked.client() as client, trio.fail_after(PATIENCE):
                device_id = device_of(client, plan.phone)
                heard = await talk(asked, device_id, asked.password)
                while not list((tmp_path / "heard").glob("*.wav")):  # noqa: ASYNC110 - the file is awaited
                    await trio.sleep(0.05)
                entries = client.get("/audit?from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z").json()
            (file,) = (tmp_path / "heard").glob("*.wav")
            assert likeness(SAID, read_wav(file)) > 0.9
            assert likeness(ANSWER, heard) > 0.9
            acts = [each["actionType"] for each in entries if "talk" in each["actionType"]]
            assert acts == ["talkStart", "talkEnd"]
            async with open_talk(asked, device_id, EMAIL, asked.password) as socket:
                await socket.get_message()
                home.process.kill()
                assert await end_of(socket) == (1001, "the server of the device does not answer now")


async def test_strangers_at_the_port_are_closed(server):
    async with await trio.open_tcp_stream(server.host, MEDIA_PORTS["talk"] + server.offset) as stream:
        await stream.send_all(bytes(40_000))
        with trio.fail_after(PATIENCE):
            with suppress(trio.BrokenResourceError):
                assert await stream.receive_some() == b""
