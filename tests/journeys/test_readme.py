"""What the README shows works as it stands there."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from tests.journeys.operating import Machine
from tests.journeys.proxies import make_certificate
from tests.pages import ROOT, commands, read_blocks, strip_sudo

from motorpool.api.main import _parser, main
from motorpool.api.program.configuration import load
from motorpool.api.settings import Settings
from motorpool.bench.server import EMAIL, run_server
from motorpool.bench.simulate import find_account, find_fleet
from motorpool.bench.vehicles.cab import write_wav
from motorpool.runtime.clock import SystemClock

README = ROOT / "README.md"
RUN_ELSEWHERE = {"Run it as a service": "tests/journeys/test_operating.py"}
PROGRAM_ONLY = {"Run your own", "Back up and restore", "Simulate and benchmark"}
"""Headings of blocks whose commands are all of this program."""


def block_after(heading: str) -> str:
    """The first shell block below a heading."""
    return next(block.text for block in read_blocks(README, "sh") if block.heading == heading)


def test_every_block_is_tested():
    source = Path(__file__).read_text(encoding="utf-8")
    for heading in {block.heading for block in read_blocks(README, "sh")} - PROGRAM_ONLY:
        if heading in RUN_ELSEWHERE:
            assert heading in (ROOT / RUN_ELSEWHERE[heading]).read_text(encoding="utf-8")
        else:
            assert f'block_after("{heading}")' in source, heading


def test_make_knows_what_it_is_told():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in re.findall(r"make ([\w-]+)", block_after("Try it")):
        assert re.search(rf"^{word}:", makefile, re.MULTILINE), word


def own_commands(path):
    """The commands of this program in the shell blocks of a page, with the variables that they are given."""
    exported = {}
    for block in read_blocks(path, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            if re.match(r"export |.*\bmotorpool ", line) and "$" not in line:
                for words in commands(line):
                    variables, left = strip_sudo(words)
                    if left[0] == "export":
                        exported |= strip_sudo(left[1:])[0]
                    elif left[0].rpartition("/")[2] == "motorpool":
                        yield left[1:], exported | variables


@pytest.mark.parametrize("page", ["README.md", "docs/operating.md", "docs/servers.md"])
def test_the_program_takes_the_words_that_it_is_given(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The sound that the reader has recorded.
    write_wav(Path("yes.wav"), bytes(2))
    for words, variables in own_commands(ROOT / page):
        options = _parser(words).parse_args(words)
        if words[0] == "simulate":
            find_fleet(options)
            assert (find_account(options, variables) is None) == ("--server" not in words)


def test_what_captured_bytes_mean_and_what_can_be_measured_is_printed_as_it_is_shown(capsys):
    ran = 0
    for words, _ in own_commands(README):
        if words[0] == "decode" or words == ["bench", "--list"]:
            assert main(words) == 0
            ran += 1
    assert ran == 3
    printed = capsys.readouterr().out
    assert "353358017784062" in printed
    assert "batteryLevel 66 %" in printed


def test_settings_are_taken_as_they_are_shown(tmp_path):
    blocks = read_blocks(README, "toml") + read_blocks(ROOT / "docs" / "servers.md", "toml")
    assert len(blocks) >= 4
    file = tmp_path / "motorpool.toml"
    file.touch(0o600)
    for block in blocks:
        file.write_text(block.text, encoding="utf-8")
        settings, warnings = load(file, {}, demo=False)
        assert settings != Settings()
        assert not warnings


needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None and not os.environ.get("CI"), reason="there is no curl program here"
)


def shell(script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=90, check=False)


def test_the_own_certificate_is_installed_as_it_is_shown(open_folder, database_url, eventually):
    """By the unit; its user may read the key, and no other user."""
    [settings] = [block.text for block in read_blocks(README, "toml") if "tls_key" in block.text]
    machine = Machine(open_folder)
    # The user of the test runs the program that is here.
    machine.environment["AS_SERVER"] = ""
    machine.environment["BINDING"] += f" MOTORPOOL_DATABASE={database_url}"
    program = machine.path("/opt/motorpool/.venv/bin/motorpool")
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name("motorpool"))
    shutil.copy(ROOT / "deploy" / "motorpool.service", machine.path("/etc/systemd/system/motorpool.service"))
    machine.path("/etc/motorpool/motorpool.toml").parent.mkdir()
    machine.path("/etc/motorpool/motorpool.toml").write_text(machine.translate(settings))
    for name, content in zip(("fleet.crt", "fleet.key"), make_certificate(), strict=True):
        (open_folder / name).write_bytes(content)
        (open_folder / name).chmod(0o600)
    try:
        machine.run(block_after("Behind a proxy, or with its own certificate"))
        url = machine.url.replace("http:", "https:")

        def health():
            with suppress(httpx.TransportError):
                return httpx.get(f"{url}/api/health", verify=False).text
            assert "motorpool: " not in machine.log, machine.log
            return None

        assert eventually(health) == "OK"
        key = machine.path("/etc/motorpool/fleet.key").stat()
        assert (key.st_mode & 0o777, key.st_gid) == (0o640, int(machine.environment["SERVER_GROUP"]))
    finally:
        machine.stop()


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
