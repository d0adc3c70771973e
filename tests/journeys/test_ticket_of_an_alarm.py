"""From the emergency button of a terminal to a resolved ticket with proof: position, picture, video, command.

The terminal speaks JT/T 808 and JT/T 1078 over sockets, people speak HTTP.
"""

import hashlib
import io
from datetime import datetime, timedelta

import httpx
import pytest
import trio
from PIL import Image
from tests.api.conftest import NOON, start
from tests.journeys.test_captures import footage

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.actors.video.settings import VideoSettings
from motorpool.bench.free_ports import free_server_port
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    MediaUploadResponse,
    PlaybackRequest,
    RegistrationResponse,
    TextMessage,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS
from motorpool.codecs.media.jt1078.sender import Jt1078Sender

LOOPBACK = "127.0.0.1"
PHONE = "13955550001"
PRESSED = NOON - timedelta(seconds=60)
"""When the button was pressed: the recording of the seconds around it is complete."""
SOS = 1
"""The bit of the emergency button in a location's alarms (JT/T 808-2013, table 24)."""


class Peer:
    """A terminal on its connection."""

    def __init__(self, stream):
        self.stream = stream
        self.terminal = Terminal(PHONE)
        self._received = []

    async def send(self, data):
        await self.stream.send_all(data)

    async def message(self, kind):
        """The next message of a kind; others before it are left out."""
        while True:
            while self._received:
                message = self._received.pop(0)
                if isinstance(message, kind):
                    return message
            data = await self.stream.receive_some(65536)
            assert data, "closed by the server"
            self._received += self.terminal.receive(data)

    async def sign_in(self):
        await self.send(self.terminal.register())
        self.terminal.code = (await self.message(RegistrationResponse)).code
        await self.send(self.terminal.authenticate())
        await self.message(GeneralResponse)

    async def play_back(self, asked, units):
        """Do what a terminal does when it is asked for a recording: send all of it at once."""
        await self.send(self.terminal.general_response(asked))
        sender = Jt1078Sender(self.terminal.identity.number)
        async with await trio.open_tcp_stream(asked.host, asked.tcp_port) as media:
            await media.send_all(b"".join(map(sender.encode, units)))


class Desk:
    """The people of a company, over HTTP."""

    def __init__(self, http, served):
        self.http = http
        self.served = served

    async def call(self, who, method, path, *, status=200, **sent):
        answer = await self.http.request(method, f"/api{path}", auth=(f"{who}@example.org", who), **sent)
        assert answer.status_code == status, answer.text
        return answer.json() if status == 200 else answer.text

    async def history(self, ticket):
        return await self.call("ann", "GET", f"/tickets/{ticket['id']}/events")

    async def until(self, ticket, *statuses):
        """The evidence of a ticket, when entries with all these statuses are there."""
        while True:
            found = [each["attributes"] for each in await self.history(ticket) if each["type"] == "evidence"]
            if {*statuses} <= {each.get("status", "picture") for each in found}:
                return {each.get("status", "picture"): each for each in found}
            await trio.sleep(0.02)


@pytest.fixture
async def desk(database, tmp_path):
    port = CODECS["jt808"].port
    settings = {
        "device": DeviceSettings(host=LOOPBACK),
        "port": PortSettings(offset=free_server_port()),
        "video": VideoSettings(playback_return_seconds=0, segment_seconds=1),
    }
    async with (
        start(database, data=tmp_path, listen=True, protocols=("jt808", "jt1078"), **settings) as served,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{served.port}", timeout=60, trust_env=False) as http,
    ):
        made = Desk(http, served)
        made.device_port = settings["port"].offset + port
        await configure(made)
        yield made


async def configure(desk):
    """A company with a manager, an agent, a vehicle, and a rule for its emergency button."""
    chief = await desk.served.user("chief", userLimit=10, deviceLimit=10)
    user = {"name": "ann", "email": "ann@example.org", "password": "ann"}
    desk.ann = (await desk.call("chief", "POST", "/users", json=user))["id"]
    company = await desk.call("chief", "POST", "/companies", json={"name": "North"})
    desk.company = company["id"]
    standard = await desk.call("chief", "POST", "/tickets/defaults", json={"companyId": desk.company})
    desk.status = {each["name"]: each["id"] for each in standard["statuses"]}
    device = {"name": "Truck 7", "uniqueId": PHONE}
    desk.device = (await desk.call("chief", "POST", "/devices", json=device))["id"]
    for link in ({"companyId": desk.company}, {"deviceId": desk.device}):
        await desk.call("chief", "POST", "/permissions", status=204, json={"userId": desk.ann, **link})
    rule = {
        "name": "SOS",
        "when": {"eventTypes": ["alarm"], "alarms": ["sos"]},
        "then": {"subject": "Emergency button"},
        "capture": {"channel": 1, "beforeSeconds": 10, "afterSeconds": 20},
    }
    company["attributes"]["ticketRules"] = [rule]
    await desk.call("chief", "PUT", f"/companies/{desk.company}", json=company)
    return chief


def photo():
    content = io.BytesIO()
    Image.new("RGB", (64, 48), "orange").save(content, "jpeg")
    return content.getvalue()


async def fetched(desk, entry):
    """The content of a file in an entry, which has the size and hash that the entry says."""
    answer = await desk.http.get(entry["url"], auth=("ann@example.org", "ann"))
    assert answer.status_code == 200
    assert (len(answer.content), hashlib.sha256(answer.content).hexdigest()) == (
        entry["size"],
        entry["sha256"],
    )
    return answer.content


async def test_an_alarm_becomes_a_ticket_with_proof_that_is_commented_on_and_resolved(desk):
    with trio.fail_after(120):
        async with await trio.open_tcp_stream(LOOPBACK, desk.device_port) as stream:
            peer = Peer(stream)
            await peer.sign_in()
            await peer.send(peer.terminal.photo(1, photo(), encode_location(41.15, -8.61, PRESSED)))
            await peer.message(MediaUploadResponse)
            place = encode_location(41.15, -8.61, PRESSED, speed_kmh=36, alarm=SOS)
            await peer.send(peer.terminal.location(place))

            # The platform asks for the recording around the button; nobody has asked for the ticket yet.
            asked = await peer.message(PlaybackRequest)
            assert (asked.channel, asked.start_time, asked.end_time) == (
                1,
                PRESSED - timedelta(seconds=10),
                PRESSED + timedelta(seconds=20),
            )
            await peer.play_back(asked, footage(3))

            (ticket,) = await desk.call("ann", "GET", "/tickets", params={"deviceId": desk.device})
            assert (ticket["subject"], ticket["channel"]) == ("Emergency button", "device")
            snapshot = ticket["attributes"]["positionSnapshot"]
            assert (snapshot["latitude"], snapshot["longitude"]) == (41.15, -8.61)
            assert datetime.fromisoformat(snapshot["time"]) == PRESSED
            event = await desk.call("ann", "GET", f"/events/{ticket['eventId']}")
            assert (event["type"], event["attributes"]["alarm"]) == ("alarm", "sos")

            proof = await desk.until(ticket, "picture", "RECORDING", "COMPLETE")
            assert await fetched(desk, proof["picture"]) == photo()
            assert proof["COMPLETE"]["captureId"] == proof["RECORDING"]["captureId"]
            film = await fetched(desk, proof["COMPLETE"])
            assert film[4:8] == b"ftyp"

            # Ann answers the driver by the terminal's screen, for the ticket.
            text = {"deviceId": desk.device, "type": "message", "attributes": {"message": "Help is coming"}}
            await desk.call("ann", "POST", "/commands/send", params={"ticketId": ticket["id"]}, json=text)
            shown = await peer.message(TextMessage)
            await peer.send(peer.terminal.general_response(shown))
            answered = (await desk.until(ticket, "sent", "answered"))["answered"]
            assert (answered["commandType"], answered["ok"]) == ("message", True)

            words = {"text": "The driver is well", "statusId": desk.status["In progress"]}
            await desk.call("ann", "POST", f"/tickets/{ticket['id']}/comments", json=words)
            done = {"statusId": desk.status["Resolved"]}
            resolved = await desk.call("ann", "POST", f"/tickets/{ticket['id']}/transition", json=done)
            assert resolved["statusKind"] == "resolved"

    entries = await desk.history(ticket)
    assert [each["type"] for each in entries if each["type"] != "evidence"] == [
        "created", "comment", "firstResponse", "statusChanged", "statusChanged",
    ]  # fmt: skip
    statuses = [each["attributes"].get("status") for each in entries if each["type"] == "evidence"]
    assert statuses.index("RECORDING") < statuses.index("COMPLETE")
    assert statuses.index("sent") < statuses.index("answered")
    span = {"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}
    audit = (await desk.served.admin.get("/audit", query_string=span)).json()
    about = [(each["actionType"], each["attributes"]) for each in audit if each["objectId"] == desk.device]
    named = {"channel": 1, "fileName": proof["COMPLETE"]["fileName"], "ticketId": ticket["id"]}
    captures = [attributes for action, attributes in about if action == "capture"]
    assert [each.items() >= named.items() for each in captures] == [True]
    assert ("download", {"fileName": proof["COMPLETE"]["fileName"]}) in about
    assert ("command", {"type": "message", "ticketId": ticket["id"]}) in about
