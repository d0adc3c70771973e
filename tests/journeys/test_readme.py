"""What the README shows works as it stands there."""

import json
import os
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from motorpool.bench.server import EMAIL, run_server
from motorpool.runtime.clock import SystemClock

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block_after(heading: str) -> str:
    """The first shell block below a heading."""
    found = re.search(r"```sh\n(.*?)```", README.partition(f"\n## {heading}\n")[2], re.DOTALL)
    assert found is not None
    return found[1]


needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None and not os.environ.get("CI"), reason="there is no curl program here"
)


def shell(script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=90, check=False)


@needs_curl
def test_the_five_calls_work_as_they_are_shown(forks):
    with run_server(start=forks.start) as server:
        script = block_after("The API in five calls")
        assert script.count("curl -sf") == 5
        script = script.replace("http://localhost:8082", server.url)
        script = script.replace("me@example.com:my-password", f"{EMAIL}:{server.password}")
        # Each answer in a line of its own.
        script = re.sub(r"^(curl .*?[^\\])$", r"\1; echo", script, flags=re.MULTILINE | re.DOTALL)
        done = shell(script)
    assert done.returncode == 0, done.stderr
    device, positions, history, command = (
        json.loads(line) for line in done.stdout.splitlines() if line.strip()
    )
    assert (device["id"], device["uniqueId"]) == (1, "13912345678")
    assert positions == history == []
    assert (command["deviceId"], command["type"]) == (1, "custom")


@needs_curl
def test_recorded_video_is_listed_watched_and_kept_as_it_is_shown(start_server, forks, eventually):
    quick = {"MOTORPOOL_VIDEO_PLAYBACK_RETURN_SECONDS": "0"}
    with start_server(quick) as server, server.client() as client:
        token = client.post("/session/token").text
        script = block_after("Recorded video").replace("http://localhost:8082", server.url)
        # Some seconds that the simulated vehicle recorded an hour ago.
        start = SystemClock().now() - timedelta(hours=1)
        script = script.replace("2026-11-21T08:00:00Z", start.isoformat(timespec="seconds"))
        script = script.replace(
            "2026-11-21T08:15:00Z", (start + timedelta(seconds=4)).isoformat(timespec="seconds")
        )
        calls = [line for line in script.splitlines() if line]
        # What the vehicle sends after a command is there a moment later.
        pauses = {True: "\necho\nsleep 1", False: "\necho"}
        calls = [
            call + pauses["commands/send" in call] if call.startswith("api ") else call for call in calls
        ]
        credentials = server.folder / "credentials.json"
        credentials.touch(0o600)
        credentials.write_text(json.dumps({"email": EMAIL, "password": server.password}))
        simulate = ["simulate", "--server", server.url]
        simulate += ["--credentials", str(credentials), "--vehicles", "1", "--end-with-input"]
        simulate += ["--host", server.host, "--port-offset", str(server.jt808_port - 5015)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with forks.popen(simulate, cwd=server.folder, env=os.environ, **pipes) as vehicle:
            eventually(lambda: any(each["status"] == "online" for each in client.get("/devices").json()), 30)
            done = shell("\n".join([f"TOKEN={token}", *calls]))
            assert done.returncode == 0, done.stderr
            answers = [line for line in done.stdout.split("\n") if line]
            listed = json.loads(answers[1])
            assert {each["channel"] for each in listed} == {1, 2}
            assert json.loads(answers[2])["status"] == "RECORDING"
            assert "#EXTM3U" in answers
            (capture,) = json.loads(answers[-1])
            complete = eventually(
                lambda: (
                    (found := client.get(f"/captures/{capture['id']}").json())["status"] == "COMPLETE"
                    and found
                ),
                30,
            )
            film = client.get(complete["url"].removeprefix("/api"))
            assert (film.status_code, len(film.content)) == (200, complete["size"])
            assert vehicle.stdin is not None
            vehicle.stdin.close()
            vehicle.wait(60)


@needs_curl
def test_a_command_on_a_calendar_is_made_and_run_as_it_is_shown(start_server, connected):
    with start_server() as server, server.client() as client, connected(server, "13912345678"):
        token = client.post("/session/token").text
        script = block_after("Commands on a calendar").replace("http://localhost:8082", server.url)
        done = shell(f"TOKEN={token}\n{script}".replace("\napi ", "\necho; api "))
        assert done.returncode == 0, done.stderr
        answers = [line for line in done.stdout.splitlines() if line]
        made, ran, history = (json.loads(answers[number]) for number in (-3, -2, -1))
    assert (made["name"], made["active"], made["calendarId"]) == ("locked at night", True, 1)
    assert [(run["phase"], run["deviceId"], run["status"]) for run in ran] == [("manual", 1, "sent")]
    assert history == ran


@needs_curl
def test_trips_events_and_reports_are_read_as_it_is_shown(start_server, tmp_path):
    with start_server() as server, server.client() as client:
        client.post("/devices", json={"name": "Bus 12", "uniqueId": "13912345678"}).raise_for_status()
        token = client.post("/session/token").text
        script = block_after("Trips, events and reports").replace("http://localhost:8082", server.url)
        script = script.replace("-o ", f"-o {tmp_path}/")
        done = shell(f"TOKEN={token}\n{script}".replace("\napi ", "\necho; api "))
    assert done.returncode == 0, done.stderr
    geofence, notification, trips, events = (json.loads(line) for line in done.stdout.splitlines() if line)
    assert (geofence["id"], notification["type"]) == (1, "geofenceExit")
    assert trips == events == []
    assert (tmp_path / "summary.xlsx").read_bytes().startswith(b"PK")
    assert (tmp_path / "day.gpx").read_text().startswith("<?xml")


@needs_curl
def test_a_ticket_is_worked_on_as_it_is_shown(start_server):
    with start_server() as server, server.client() as client:
        token = client.post("/session/token").text
        assert client.post("/devices", json={"name": "Truck", "uniqueId": "1"}).status_code == 200
        script = block_after("Tickets").replace("http://localhost:8082", server.url)
        calls = [f"{line}\necho" if line.startswith("api ") else line for line in script.splitlines()]
        done = shell("\n".join([f"TOKEN={token}", *calls]))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    resolved, events, levels, listed, figures = answers[5:]
    assert (resolved["deviceId"], resolved["statusKind"]) == (1, "resolved")
    assert events[0]["type"] == "created"
    assert levels["resolution"]["state"] == "met"
    assert listed == []
    assert figures["volume"]["resolved"] == 1
