"""Two server processes that NATS links: commands and live updates cross it, and without it all goes on."""

import base64
import contextlib
from functools import partial

import httpx
import pytest
import trio
from tests.journeys.test_two_servers import NUMBER, VAN, report, watch

from motorpool.bench.nats_server import run_nats
from motorpool.bench.server import EMAIL


def with_text(message):
    return getattr(message, "message_id", 0) == 0x8300


def metric(server, name):
    with server.client() as client:
        for line in httpx.get(f"{server.url}/metrics", auth=client.auth).text.splitlines():
            if line.startswith(name):
                return float(line.split()[-1])
    raise AssertionError(name)


@pytest.mark.timeout(180)
def test_two_servers_are_linked_by_nats(start_server, database_url, connected, eventually, tmp_path):
    secret = tmp_path / "nats.secret"
    secret.write_text("fleet:of vans\n")
    with contextlib.ExitStack() as stack:
        nats = stack.enter_context(run_nats("--user", "fleet", "--pass", "of vans"))
        settings = {
            "MOTORPOOL_CLUSTER_NAME": "north",
            "MOTORPOOL_DATABASE": database_url,
            "MOTORPOOL_NODE_ADDRESS": "http://127.0.0.1:0",
            "MOTORPOOL_LINK_URL": nats.url,
            "MOTORPOOL_LINK_CREDENTIALS": str(secret),
        }
        one = stack.enter_context(start_server(settings))
        home = stack.enter_context(start_server(settings))
        client = stack.enter_context(one.client())
        peer = stack.enter_context(connected(home, NUMBER))
        for each in (one, home):
            assert eventually(lambda each=each: metric(each, "motorpool_link_connected") == 1)

        # A command for a device at the other server is sent there at once, without its queue.
        (device,) = client.get("/devices", params={"uniqueId": NUMBER}).json()
        text = base64.b16encode(b"\x83\x00\x01HELLO").decode()
        command = {"deviceId": device["id"], "type": "custom", "attributes": {"data": text, "noQueue": True}}
        assert eventually(lambda: client.post("/commands/send", json=command).status_code == 200)
        assert peer.messages(with_text)
        assert metric(one, 'motorpool_link_messages_total{outcome="answered"}') >= 1

        # What its protocol can do is known where it is connected.
        types = client.get("/commands/types", params={"deviceId": device["id"]}).json()
        assert "videoStart" in {each["type"] for each in types}

        # The log of commands is that of both.
        log = client.get(f"/commands/log?deviceId={device['id']}").json()
        assert {entry["state"] for entry in log} <= {"SENT", "REFUSED"}
        assert "SENT" in {entry["state"] for entry in log}

        # A refusal is the same as at its own server.
        wrong = {"deviceId": device["id"], "type": "noSuchType"}
        asked = httpx.Client(base_url=f"{home.url}/api", auth=(EMAIL, one.password), timeout=60)
        with asked as other:
            answers = {each.post("/commands/send", json=wrong).text for each in (client, other)}
            assert len(answers) == 1

        # What is new at the one is watched at the other.
        van = client.post("/devices", json=VAN).json()["id"]
        form = {"email": EMAIL, "password": one.password}
        assert client.post("/session", data=form).status_code == 200
        seen = trio.run(watch, one, client.cookies, partial(report, home, 41.15))
        assert (seen["deviceId"], seen["latitude"]) == (van, pytest.approx(41.15))

        # Without NATS a command waits in the queue, of which its server learns by the database.
        nats.kill()
        assert eventually(lambda: metric(one, "motorpool_link_connected") == 0)
        assert client.post("/commands/send", json=command).status_code == 202
        assert peer.messages(with_text)
        # What both show of positions then comes late, and goes on by itself.
        nats.start()
        for each in (one, home):
            assert eventually(lambda each=each: metric(each, "motorpool_link_connected") == 1)
        assert eventually(lambda: client.post("/commands/send", json=command).status_code == 200)
        assert peer.messages(with_text)
        seen = trio.run(watch, one, client.cookies, partial(report, home, 41.16))
        assert seen["latitude"] == pytest.approx(41.16)

        # A device that goes on to the other server is asked there from now on.
        again = stack.enter_context(connected(one, NUMBER))
        with httpx.Client(base_url=f"{home.url}/api", auth=(EMAIL, one.password), timeout=60) as other:
            assert eventually(lambda: other.post("/commands/send", json=command).status_code == 200)
        assert again.messages(with_text)
        assert client.post("/commands/send", json=command).status_code == 200
        assert again.messages(with_text)
