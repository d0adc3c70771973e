"""Device, server, HTTP: snapshots of live video, photos that were ordered, and the files of alarms."""

import io
import itertools
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx
import pytest
from PIL import Image

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.fleet import plan_fleet
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.jt808.attachment_sender import (
    ADAS,
    DSM,
    alarm_item,
    alarm_label,
    encode_attachment_list,
    encode_file_begin,
    encode_file_chunks,
    encode_file_end,
)
from motorpool.bench.vehicles.jt808.platform_messages import (
    AttachmentRequest,
    FileEndResponse,
    GeneralResponse,
    LiveVideoRequest,
    MediaUploadResponse,
    PhotoRequest,
    ResendRequest,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_items, encode_location
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.runtime.clock import SystemClock

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
FPS = 10


@pytest.fixture(scope="module")
def server(start_server):
    """It looks at the time every second, so that what is lost is missed soon."""
    with start_server({"MOTORPOOL_DEVICE_LOGIN_SECONDS": "2"}) as running:
        yield running


def device_id_of(client, phone):
    (device,) = client.get("/devices", params={"uniqueId": phone}).json()
    return device["id"]


def positions_of(client, device_id):
    span = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-30T00:00:00Z"}
    return client.get("/positions", params={"deviceId": device_id, **span}).json()


def media_events_of(client, device_id):
    """Attributes of the events, whose ids count from 1; the reports that list them come later."""
    answers = (client.get(f"/events/{number}") for number in itertools.count(1))
    found = []
    for answer in itertools.takewhile(lambda answer: answer.status_code == 200, answers):
        event = answer.json()
        if (event["deviceId"], event["type"]) == (device_id, "media"):
            assert event["positionId"] > 0
            found.append(event["attributes"])
    return found


def filmed(coding, seconds):
    """Pictures of a simulated vehicle, each with its number drawn into it; a key frame every half second."""
    plan = plan_fleet(vehicles=1).vehicles[0]
    film = VideoFormat(
        width=320, height=180, frames_per_second=FPS, key_seconds=0.5, coding=coding, sound=None
    )
    camera, vehicle = Camera(plan.name, 1, film), Vehicle(plan)
    moments = (NOON + timedelta(seconds=number / FPS) for number in range(seconds * FPS))
    return [unit for instant in moments for unit in camera.encode_frame(vehicle.state_at(instant), instant)]


@pytest.mark.parametrize(("phone", "coding"), [("13933330001", H264), ("13933330002", H265)])
def test_a_snapshot_shows_the_latest_key_frame_of_a_camera_that_its_reader_started(
    server, connected, phone, coding
):
    units = filmed(coding, 4)
    sent = threading.Semaphore(0)
    go_on, seen = threading.Event(), threading.Event()

    def film_when_asked(peer):
        asked = peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
        peer.send(peer.terminal.general_response(asked))
        sender = Jt1078Sender(phone, 6)
        with socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media:
            media.sendall(b"".join(map(sender.encode, units[: FPS + 3])))
            sent.release()
            assert go_on.wait(60)
            media.sendall(b"".join(map(sender.encode, units[FPS + 3 :])))
            assert seen.wait(60)

    with server.client() as client, connected(server, phone) as peer, ThreadPoolExecutor() as pool:
        address = f"/stream/{device_id_of(client, phone)}/1/snapshot.jpg"
        filming = pool.submit(film_when_asked, peer)
        first = client.get(address)
        assert (first.status_code, first.headers["content-type"]) == (200, "image/jpeg")
        assert first.headers["cache-control"] == "no-cache"
        age = SystemClock().now() - parsedate_to_datetime(first.headers["last-modified"])
        assert timedelta(seconds=-1) < age < timedelta(seconds=60)
        assert sent.acquire(timeout=40)

        def shown(answer):
            with Image.open(io.BytesIO(answer.content)) as picture:
                assert picture.size == (320, 180)
                return read_number(picture)

        deadline = time.monotonic() + 60
        # Pictures 0 to 12 have come; 10 is the last of them that stands by itself.
        while (number := shown(client.get(address))) != 10:
            assert number in (0, 5)
            assert time.monotonic() < deadline
        go_on.set()
        while shown(client.get(address)) != 35:
            assert time.monotonic() < deadline
        token = client.post(
            "/share/device",
            data={"deviceId": address.split("/")[2], "expiration": "2100-01-01T00:00:00Z"},
        ).text
        guest = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{server.url}/api{address}", headers=guest).status_code == 200
        assert httpx.get(f"{server.url}/api{address}").status_code == 401
        seen.set()
        filming.result(60)


def test_a_photo_that_was_ordered_arrives_although_packets_of_it_were_lost(server, connected):
    phone, content = "13933330003", b"\xff\xd8" + bytes(range(256)) * 30 + b"\xff\xd9"
    with server.client() as client, connected(server, phone) as peer:
        device_id = device_id_of(client, phone)
        order = {"deviceId": device_id, "type": "requestPhoto", "attributes": {"channel": 2}}
        assert client.post("/commands/send", json=order).status_code == 200
        asked = peer.messages(lambda message: isinstance(message, PhotoRequest))[-1]
        assert (asked.channel, asked.count) == (2, 1)
        peer.send(peer.terminal.shoot_response(asked, [77]))
        photo = peer.terminal.photo(77, content, encode_location(1, 2, NOON), channel=2, packet_bytes=500)
        packets = [b"~" + packet + b"~" for packet in photo.strip(b"~").split(b"~~")]
        assert len(packets) == 16
        # The third and the last are lost on the way.
        peer.send(b"".join(packets[:2] + packets[3:15]))
        heard = peer.messages(lambda message: isinstance(message, ResendRequest), seconds=30)
        assert heard[-1].indexes == (3, 16)
        assert not [message for message in heard if isinstance(message, MediaUploadResponse)]
        peer.send(peer.terminal.resend(heard[-1]))
        received = peer.messages(lambda message: isinstance(message, MediaUploadResponse))[-1]
        assert (received.media_id, received.missing) == (77, ())
        # Answered only once it is stored: so it is there now.
        position = next(each for each in positions_of(client, device_id) if "image" in each["attributes"])
        assert position["attributes"]["channel"] == 2
        assert (position["latitude"], position["longitude"]) == (1, 2)
        name = position["attributes"]["image"]
        answer = client.get(f"/media/{phone}/{name}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
        assert answer.content == content
        assert media_events_of(client, device_id) == [{"file": name, "media": "image"}]


class UploadLine:
    """The connection that a terminal makes for the files of one alarm."""

    def __init__(self, asked, terminal):
        self.asked = asked
        self.terminal = Terminal(terminal.identity.number, 2019 if terminal.is_2019 else 2013)
        self.socket = socket.create_connection((asked.host, asked.tcp_port), timeout=40)

    def send(self, data):
        self.socket.sendall(data)

    def answer(self, data, kind):
        """Send, and read up to an answer of this kind."""
        self.send(data)
        while True:
            content = self.socket.recv(65536)
            assert content, "closed by the server"
            for message in self.terminal.receive(content):
                if isinstance(message, kind):
                    return message

    def upload(self, name, kind, content, lost=()):
        """One file, of which the pieces with these numbers are lost at first; all answers to its end."""
        begun = self.answer(encode_file_begin(self.terminal, name, kind, len(content)), GeneralResponse)
        assert (begun.answered_id, begun.result) == (0x1211, 0)
        pieces = encode_file_chunks(name, content)
        self.send(b"".join(piece for number, piece in enumerate(pieces) if number not in lost))
        answers = [self.answer(encode_file_end(self.terminal, name, kind, len(content)), FileEndResponse)]
        while answers[-1].missing:
            self.send(b"".join(encode_file_chunks(name, content, answers[-1])))
            answers.append(
                self.answer(encode_file_end(self.terminal, name, kind, len(content)), FileEndResponse)
            )
        return answers


def report_alarm(peer, item, label):
    """Tell of an alarm; what the platform asks for because of it."""
    place = encode_location(1.5, 2.5, NOON, speed_kmh=60)
    alarm = encode_items(others=[(item, alarm_item(9, 1, label, place))])
    peer.send(peer.terminal.location(encode_location(1.5, 2.5, NOON, speed_kmh=60, items=alarm)))
    return peer.messages(lambda message: isinstance(message, AttachmentRequest))[-1]


@pytest.mark.parametrize(("phone", "version"), [("13933330004", 2013), ("13933330005", 2019)])
def test_the_files_of_an_alarm_come_on_a_connection_of_their_own_and_belong_to_it(
    server, connected, phone, version
):
    image = b"\xff\xd8" + bytes(range(256)) * 10 + b"\xff\xd9"
    film = b"~01cd}" * 60_000
    with server.client() as client, connected(server, phone, version=version) as peer:
        device_id = device_id_of(client, phone)
        label = alarm_label(b"TERM001", NOON, 0, 2, is_2019=version == 2019)
        asked = report_alarm(peer, DSM, label)
        assert (asked.host, asked.tcp_port, asked.label) == ("127.0.0.1", server.jt808_port, label)
        peer.send(peer.terminal.general_response(asked))

        line = UploadLine(asked, peer.terminal)
        files = {b"00_65_6501_0_1.jpg": len(image), b"02_65_6501_1_1.mp4": len(film)}
        offered = line.answer(encode_attachment_list(line.terminal, asked, files), GeneralResponse)
        assert (offered.answered_id, offered.result) == (0x1210, 0)
        (whole,) = line.upload(b"00_65_6501_0_1.jpg", 0, image)
        assert whole.missing == ()
        again, whole = line.upload(b"02_65_6501_1_1.mp4", 2, film, lost={0, 3})
        assert again.missing == ((0, 65536), (196608, 65536))

        found = positions_of(client, device_id)
        (alarm,) = [each for each in found if "alarm" in each["attributes"]]
        assert alarm["attributes"]["alarmLabel"] == label.hex()
        of_files = [each for each in found if {"image", "video"} & each["attributes"].keys()]
        assert len(of_files) == 2
        for each in of_files:
            assert each["attributes"]["alarmLabel"] == label.hex()
            assert each["attributes"]["channel"] == 65
            assert (each["latitude"], each["fixTime"]) == (1.5, alarm["fixTime"])
        kept = {kind: name for each in of_files for kind, name in each["attributes"].items() if kind in KINDS}
        for kind, content in (("image", image), ("video", film)):
            answer = client.get(f"/media/{phone}/{kept[kind]}")
            assert (answer.status_code, answer.content == content) == (200, True)
            assert answer.headers["content-type"] == KINDS[kind]
        assert media_events_of(client, device_id) == [
            {"file": kept["image"], "media": "image"},
            {"file": kept["video"], "media": "video"},
        ]
        assert sorted(path.name for path in (server.folder / "data" / "media" / phone).iterdir()) == sorted(
            kept.values()
        )
        # The terminal's first connection is what it was, before and after the other has ended.
        for _ in range(2):
            serial = peer.terminal.serial
            peer.send(peer.terminal.heartbeat())
            peer.messages(
                lambda message, serial=serial: (
                    isinstance(message, GeneralResponse) and message.answered_serial == serial
                )
            )
            assert client.get(f"/devices/{device_id}").json()["status"] == "online"
            line.socket.close()
        # What is told again is not asked for again; what the server asks by itself is no command's result.
        serial = peer.terminal.serial
        place = encode_location(
            1.5, 2.5, NOON, items=encode_items(others=[(DSM, alarm_item(9, 1, label, PLACE))])
        )
        peer.send(peer.terminal.location(place))
        peer.send(peer.terminal.heartbeat())
        heard = peer.messages(
            lambda message: isinstance(message, GeneralResponse) and message.answered_serial == serial + 1
        )
        assert not [message for message in heard if isinstance(message, AttachmentRequest)]
        assert not [each for each in positions_of(client, device_id) if "result" in each["attributes"]]


PLACE = encode_location(1.5, 2.5, NOON)
KINDS = {"image": "image/jpeg", "video": "video/mp4"}


def test_files_that_nobody_asked_for_are_refused_and_a_line_that_breaks_leaves_nothing(
    server, connected, eventually
):
    phone = "13933330006"
    with connected(server, phone) as peer:
        label = alarm_label(b"TERM001", NOON, 0, 1)
        asked = report_alarm(peer, ADAS, label)
        # Another alarm, of which the platform never heard.
        other = alarm_label(b"TERM001", NOON + timedelta(seconds=1), 0, 1)
        invented = AttachmentRequest(0x9208, 0, b"", asked.host, asked.tcp_port, 0, other, "0" * 32)
        line = UploadLine(asked, peer.terminal)
        refused = line.answer(encode_attachment_list(line.terminal, invented, {b"x.jpg": 4}), GeneralResponse)
        assert (refused.answered_id, refused.result) == (0x1210, 1)
        # Half a file, and the line breaks.
        line.answer(encode_attachment_list(line.terminal, asked, {b"x.jpg": 100_000}), GeneralResponse)
        line.answer(encode_file_begin(line.terminal, b"x.jpg", 0, 100_000), GeneralResponse)
        line.send(b"".join(encode_file_chunks(b"x.jpg", bytes(70_000))))
        home = server.folder / "data" / "media" / phone
        assert eventually(lambda: home.exists() and [*home.iterdir()])
        line.socket.close()
        assert eventually(lambda: not [*home.iterdir()])
        # The terminal comes again and begins anew.
        line = UploadLine(asked, peer.terminal)
        line.answer(encode_attachment_list(line.terminal, asked, {b"x.jpg": 100_000}), GeneralResponse)
        (whole,) = line.upload(b"x.jpg", 0, bytes(100_000))
        assert whole.missing == ()
        (path,) = home.iterdir()
        assert path.stat().st_size == 100_000
        line.socket.close()
        peer.send(peer.terminal.heartbeat())
        peer.messages(lambda message: isinstance(message, GeneralResponse) and message.answered_id == 2)
        assert "they were not requested" in server.log
