"""What is in deploy/, compared with what the server is; tests/journeys/test_proxies.py runs the proxies."""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from motorpool.actors.gateway.port_binding import BACKLOG
from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.api.settings import Settings
from motorpool.bench.free_ports import free_server_port
from motorpool.codecs.devices import CODECS
from motorpool.codecs.media.jt1078 import MEDIA_PORTS

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
HTTP_PORT = "8082"
PORTS = {HTTP_PORT, *map(str, MEDIA_PORTS.values())} | {
    port
    for codec in CODECS.values()
    for port in (f"{codec.port}", *([f"{codec.port}/udp"] if codec.udp else []))
}
"""HTTP, video, and those of all protocols."""


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_container_exposes_and_publishes_every_port():
    text = read("deploy/Containerfile")
    [exposed] = re.findall("^EXPOSE (.*)$", text, re.MULTILINE)
    assert set(exposed.split()) == PORTS
    published = re.findall(r"-p (\d+):((\d+)\S*)", text)
    assert {inside for _, inside, _ in published} == PORTS
    assert all(outside == number for outside, _, number in published)


def test_readme_names_every_port():
    cells = re.findall(r"^\|[^|\n]+\|([^|\n]+)\|$", read("README.md"), re.MULTILINE)
    for codec in CODECS.values():
        kind = "TCP and UDP" if codec.udp else "(TCP|HTTP)"
        assert any(re.search(f"{kind} {codec.port}\\b", cell) for cell in cells), codec
    for port in MEDIA_PORTS.values():
        assert any(str(port) in cell for cell in cells)
    named = {port for cell in cells for port in re.findall(r"\b5\d{3}\b", cell)}
    assert named <= PORTS


@pytest.mark.parametrize("name", CODECS)
def test_the_page_of_a_protocol_names_its_port(name):
    text = read(f"docs/protocols/{name}.md")
    [(kind, port)] = re.findall(r"(?:(TCP and UDP|TCP), d|\bD)efault\s+port (\d+)", text)
    assert int(port) == CODECS[name].port
    assert (kind == "TCP and UDP") == CODECS[name].udp


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_the_proxies_name_no_port_of_devices(name):
    """They named four of fifteen."""
    ports = {port.partition("/")[0] for port in PORTS - {HTTP_PORT}}
    assert not ports & set(re.findall(r"\d+", read(f"deploy/{name}")))


def test_the_unit_permits_the_ports_that_are_configured_or_shown():
    shown = re.findall(r'^bind = ".*:(\d+)"', read("README.md"), re.MULTILINE)
    low = [port for port in (*shown, *(codec.port for codec in CODECS.values())) if int(port) < 1024]
    assert low == ["443"]
    unit = read("deploy/motorpool.service")
    for setting in ("CapabilityBoundingSet", "AmbientCapabilities"):
        assert re.findall(f"^{setting}=(.*)$", unit, re.MULTILINE) == ["CAP_NET_BIND_SERVICE"]


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and os.environ.get("CI") != "true",
    reason="systemd is not installed",
)
def test_systemd_takes_the_unit_and_finds_it_confined(tmp_path):
    """Of 10, the score of a service without any protection, at most 2.0."""
    unit = tmp_path / "motorpool.service"
    program = "/opt/motorpool/.venv/bin/motorpool"
    text = read("deploy/motorpool.service")
    assert f"ExecStart={program} serve" in text
    unit.write_text(text.replace(program, sys.executable), encoding="utf-8")
    for words in (("verify",), ("security", "--offline=true", "--threshold=20")):
        done = subprocess.run(
            ["systemd-analyze", "--no-pager", *words, str(unit)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None and os.environ.get("CI") != "true",
    reason="systemd is not installed",
)
def test_systemd_takes_the_sockets(tmp_path):
    service = read("deploy/motorpool.service").replace("/opt/motorpool/.venv/bin/motorpool", sys.executable)
    (tmp_path / "motorpool.service").write_text(service, encoding="utf-8")
    unit = tmp_path / "motorpool.socket"
    unit.write_text(read("deploy/motorpool.socket"), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "--no-pager", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_sockets_are_those_that_the_server_would_open():
    text = read("deploy/motorpool.socket")
    addresses = re.findall(r"^ListenStream=(.*)$", text, re.MULTILINE)
    assert addresses[0] == Settings.bind
    host = DeviceSettings().host
    assert sorted(addresses[1:]) == sorted(f"{host}:{codec.port}" for codec in CODECS.values())
    assert f"Backlog={BACKLOG}\n" in text


def dropped_from_context(folder, names):
    """The names in a folder that .dockerignore leaves out; for `shutil.copytree`."""
    lines = [line for line in read(".dockerignore").splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    dropped = set()
    for name in names:
        path = (Path(folder) / name).relative_to(ROOT).as_posix()
        if path.partition("/")[0] not in kept or any(
            fnmatch.fnmatch(path, line) or (line.startswith("**/") and fnmatch.fnmatch(name, line[3:]))
            for line in lines[1:]
        ):
            dropped.add(name)
    return dropped


def test_a_container_is_built_of_sources_only():
    """An ignore file that lists what is copied; whatever else lies in a checkout, such as keys, is not."""
    lines = read(".dockerignore").splitlines()
    assert lines[1] == "*"
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    for name in re.findall(r"(?:-r|python) ([\w./-]+\.(?:lock|py))", read("deploy/Containerfile")):
        assert name.partition("/")[0] in kept
    assert dropped_from_context(ROOT, [".git", ".venv", "data", "fleet.key", "tests", "actors"]) == {
        ".git",
        ".venv",
        "data",
        "fleet.key",
        "tests",
    }
    assert dropped_from_context(ROOT / "api" / "console", ["dist", "node_modules", "src"]) == {
        "dist",
        "node_modules",
    }


def instructions():
    """The instructions of the Containerfile, each with what follows it."""
    text = re.sub(r"^#.*\n", "", read("deploy/Containerfile"), flags=re.MULTILINE).replace("\\\n", " ")
    return [line.split(None, 1) for line in text.splitlines() if line.strip()]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_the_container_is_built_of_starts_and_is_found_healthy(open_folder):
    """By the steps of the Containerfile, in folders here: there may be no engine for containers."""
    sources, program, data = open_folder / "src", open_folder / "opt", open_folder / "data"
    base = getattr(sys, "_base_executable", sys.executable)
    port = free_server_port()
    places = (("/opt/motorpool", program), ("python3 -m", f"{base} -m"), (f":{HTTP_PORT}", f":{port}"))

    def here(text):
        for place, replacement in places:
            text = text.replace(place, str(replacement))
        return text

    environment = {"PATH": os.environ["PATH"], "HOME": str(open_folder)}
    words = {}
    for word, rest in instructions():
        if (word, rest) == ("COPY", ". ."):
            shutil.copytree(ROOT, sources, symlinks=True, ignore=dropped_from_context)
        elif word == "RUN" and "/opt/motorpool" in rest:
            # The environment may name registries; Node.js leaves a cache.
            outer = os.environ | {"TMPDIR": str(open_folder)}
            subprocess.run(here(rest), shell=True, check=True, cwd=sources, env=outer, timeout=600)
            shutil.rmtree(sources)
        elif word == "ENV":
            environment |= dict(pair.split("=", 1) for pair in here(rest).split())
        elif word in {"ENTRYPOINT", "CMD"}:
            words[word] = json.loads(here(rest))
        elif word == "HEALTHCHECK":
            words[word] = json.loads(here(rest.partition("CMD")[2]))
    environment |= {"MOTORPOOL_DATA": str(data), "MOTORPOOL_PORT_OFFSET": str(port)}
    with (open_folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*words["ENTRYPOINT"], *words["CMD"]], cwd=open_folder, env=environment, stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + 120
        while subprocess.run(
            words["HEALTHCHECK"], env=environment, stderr=subprocess.DEVNULL, check=False
        ).returncode:
            assert server.poll() is None, (open_folder / "log").read_text()
            assert time.monotonic() < deadline
        # With its console.
        assert 'src="/console/' in httpx.get(f"http://127.0.0.1:{port}/").text
    finally:
        server.terminate()
        assert server.wait(60) == 0
