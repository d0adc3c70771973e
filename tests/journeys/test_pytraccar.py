"""pytraccar, the client behind Home Assistant, unchanged: it logs in, lists, and follows the socket."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import httpx
import pytest

USER = {"name": "Home", "email": "home@example.org", "password": "correct horse", "deviceLimit": -1}

# A program of its own: pytraccar runs on asyncio. It says what it gets, one line of JSON each.
CLIENT = """
import asyncio, json, sys
import aiohttp
from pytraccar import ApiClient, TraccarAuthenticationException

def say(kind, value):
    print(json.dumps([kind, value]), flush=True)

async def main(port, email, password):
    await asyncio.to_thread(sys.stdin.readline)
    # As Home Assistant does: addresses have cookies too.
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        wrong = ApiClient("127.0.0.1", email, "wrong", session, port=port)
        try:
            await wrong.get_devices()
        except TraccarAuthenticationException as error:
            say("refused", str(error))
        client = ApiClient("127.0.0.1", email, password, session, port=port)
        say("server", await client.get_server())
        say("devices", await client.get_devices())
        say("geofences", await client.get_geofences())
        say("positions", await client.get_positions())

        async def tell(data):
            say("told", data)

        following = asyncio.create_task(client.subscribe(tell))
        await asyncio.to_thread(sys.stdin.readline)
        following.cancel()
        await following
        say("end", str(client.subscription_status))
        async with session.get(f"http://127.0.0.1:{port}/api/session") as answer:
            say("session", answer.status)

asyncio.run(main(int(sys.argv[1]), *sys.argv[2:]))
"""


@pytest.fixture
def client_of(server):
    """The program; it begins when it is sent a line."""
    port = server.url.rpartition(":")[2]
    command = [sys.executable, "-c", CLIENT, port, USER["email"], USER["password"]]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process, kind, wanted=lambda _: True):
    """Read on until the program says this; the test's own time limit ends a wait in vain."""
    for line in process.stdout:
        said, value = json.loads(line)
        assert said == kind, line
        if wanted(value):
            return value
    raise AssertionError(f"it ended before it said {kind}")


def report(server, unique_id, latitude, minute):
    """A telephone that speaks OsmAnd reports where it is."""
    moment = datetime(2026, 3, 5, 12, minute, tzinfo=UTC)
    place = {"id": unique_id, "lat": latitude, "lon": 13.3777, "timestamp": int(moment.timestamp())}
    answer = httpx.post(f"http://{server.host}:{5055 + server.offset}/", params=place, timeout=40)
    assert answer.status_code == 200


def test_it_logs_in_lists_and_hears_of_devices_positions_and_events(server, client_of):
    with server.client() as admin:
        # On a server with vehicles of others.
        admin.post("/users", json=USER).raise_for_status()
    with httpx.Client(base_url=f"{server.url}/api", auth=(USER["email"], USER["password"])) as home:
        device = home.post("/devices", json={"name": "Van", "uniqueId": "osmand-1"}).json()
        fence = {"name": "Yard", "area": "CIRCLE (52.5 13.3, 250)", "attributes": {"color": "#ff0000"}}
        fence = home.post("/geofences", json=fence).json()
        report(server, "osmand-1", 52.25, minute=1)
        client_of.stdin.write("begin\n")
        client_of.stdin.flush()

        assert heard(client_of, "refused") == "Unauthorized"
        settings = heard(client_of, "server")
        assert settings["version"] == "8.20.0"
        assert settings["attributes"] == {}
        (listed,) = heard(client_of, "devices")
        assert (listed["id"], listed["name"], listed["status"]) == (device["id"], "Van", "online")
        assert heard(client_of, "geofences") == [fence]
        (position,) = heard(client_of, "positions")
        assert (position["latitude"], position["fixTime"]) == (52.25, "2026-03-05T12:01:00Z")

        # The first message is where everything is now; what comes later comes by itself.
        first = heard(client_of, "told")
        assert [each["latitude"] for each in first["positions"]] == [52.25]
        report(server, "osmand-1", 52.5, minute=31)
        seen = {"devices": [], "positions": []}

        def both(data):
            for kind in seen:
                seen[kind] += data[kind] or []
            return all(seen.values())

        heard(client_of, "told", both)
        assert [each["latitude"] for each in seen["positions"]] == [52.5]
        assert {each["uniqueId"] for each in seen["devices"]} == {"osmand-1"}

        assert home.post("/notifications/test/web").status_code == 204
        told = heard(client_of, "told", lambda data: data["events"])
        (event,) = told["events"]
        assert event["type"] == "test"
        assert "test message" in event["attributes"]["message"]

        client_of.stdin.write("\n")
        client_of.stdin.flush()
        assert heard(client_of, "end") == "disconnected"
        # It logged out at the end, so the cookie opens nothing any more.
        assert heard(client_of, "session") == 404
        assert client_of.wait(60) == 0
