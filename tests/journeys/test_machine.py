"""A whole server on a machine whose clock is set, that runs out of open files, or out of memory."""

import os
import resource
import secrets
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.journeys.noticed import Log, Reporter, banner_of, measured

from motorpool.bench.server import LOG_FILE, run_server

PHONE = "13966600021"
PROGRAM = """
import mmap, os, struct, sys
from datetime import timedelta
from pathlib import Path
from motorpool.api.main import main
from motorpool.runtime import clock

group, step = map(Path, sys.argv[1:])
if group.name:
    (group / "cgroup.procs").write_text(str(os.getpid()))
with step.open("r+b") as file:
    seconds = mmap.mmap(file.fileno(), 8)
read_wall = clock._read_wall
clock._read_wall = lambda: read_wall() + timedelta(seconds=struct.unpack("d", seconds)[0])
sys.exit(main(["serve"]))
"""
"""A server in a control group, with a wall clock that is set by the number of seconds in a file."""
GROUPS = Path("/sys/fs/cgroup")
LIMITS = {GROUPS / "memory": "memory.limit_in_bytes", GROUPS: "memory.max"}
"""Of versions 1 and 2 of control groups: the folder of all, and the name of the file of a limit."""
USAGE = ("memory.usage_in_bytes", "memory.current")
CACHE = ("inactive_file", "active_file")


@pytest.fixture(scope="module")
def group():
    """The folder of a control group and the file of its memory limit; None without the right."""
    name = f"motorpool-test-{os.getpid()}-{secrets.token_hex(4)}"
    for groups, limit in LIMITS.items():
        folder = groups / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / limit).exists():
                yield folder, folder / limit
                return
        finally:
            folder.rmdir()
    yield None


@pytest.fixture(scope="module")
def machine(postgres, group, tmp_path_factory):
    """The server, and the file that its clock is set by."""
    step = tmp_path_factory.mktemp("clock") / "step"
    step.write_bytes(bytes(8))
    folder = str(group[0]) if group else ""

    def start(place, environment):
        with (place / LOG_FILE).open("ab") as log:
            command = [sys.executable, "-c", PROGRAM, folder, str(step)]
            return subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=log)

    name = postgres.take()
    settings = {"MOTORPOOL_DATABASE": postgres.server.url(name)}
    with run_server(settings, start) as server:
        yield server, step
    postgres.give_back(name)


def set_clock(step, seconds):
    """Let the clock of the server be ahead by so much."""
    with step.open("r+b") as file:
        file.write(struct.pack("d", seconds))


@pytest.fixture
def world(machine, connected):
    """The server, the file of its clock, a client, the banner, a terminal and the log from now."""
    server, step = machine
    phone = f"139{secrets.randbelow(10**8):08}"
    with (
        server.client() as client,
        connected(server, phone) as peer,
        banner_of(server, client) as banner,
    ):
        reporter = Reporter(peer)
        reporter.report()
        yield server, step, client, banner, reporter, Log(server)
        reporter.report()
        reporter.check_stored(client, phone)


def test_a_clock_that_is_set_is_said_with_each_step_and_loses_nothing(world, eventually):
    server, step, client, banner, reporter, log = world
    set_clock(step, 3600)
    banner.wait("clock")
    assert "the clock was set forward by 3600 s" in banner.present["clock"]["cause"]
    assert measured(server) == {"clock"}
    reporter.report()
    assert client.get("/health").status_code == 200
    assert client.post("/groups", json={"name": "North"}).status_code == 200
    set_clock(step, 0)
    eventually(lambda: "set back by 3600 s" in server.log)
    reporter.report()
    assert client.get("/devices").status_code == 200
    begin, over, again = log.said()["clock"]
    assert begin.startswith("the clock was set forward by 3600 s")
    assert over.startswith("over after ")
    assert again.startswith("the clock was set back by 3600 s")


def test_without_files_to_open_those_who_are_connected_are_served_and_administrators_let_in(
    world, eventually
):
    server, _, client, banner, reporter, log = world
    pid = server.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    number = len(os.listdir(f"/proc/{pid}/fd"))
    with ExitStack() as waiting:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (number, limits[1]))
        try:
            for _ in range(10):
                waiting.enter_context(socket.create_connection((server.host, server.jt808_port)))
            banner.wait("open_files")
            for _ in range(10):
                reporter.report()
                assert client.post("/groups", json={"name": "North"}).status_code == 200
                # A new connection each time.
                answer = httpx.get(f"{server.url}/api/health", timeout=60)
                assert (answer.status_code, answer.text) == (200, "OK")
            assert measured(server) - {"clock"} == {"open_files"}
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    banner.wait()
    log.check(open_files=rf"^too many files are open, the limit of the server is {number} \(LimitNOFILE")


def used_memory(group):
    """Bytes that a control group uses, without the cache of files."""
    usage = next(path for name in USAGE if (path := group / name).exists())
    lines = (line.split() for line in (group / "memory.stat").read_text().splitlines())
    return int(usage.read_text()) - sum(int(value) for name, value in lines if name in CACHE)


def test_near_the_limit_of_memory_large_work_is_refused_and_all_else_goes_on(world, group):
    if group is None:
        pytest.skip("no control group can be made here")
    server, _, client, banner, reporter, log = world
    folder, limit = group
    free = limit.read_text()
    limit.write_text(str(used_memory(folder) * 100 // 95))
    try:
        banner.wait("memory")
        assert measured(server) - {"clock"} == {"memory"}
        device = client.get("/positions").json()[0]["deviceId"]
        answer = client.get(f"/stream/{device}/1/live.m3u8")
        assert (answer.status_code, answer.text) == (503, banner.present["memory"]["text"])
        assert int(answer.headers["Retry-After"]) >= 1
        reporter.report()
        assert client.get("/health").status_code == 200
    finally:
        limit.write_text(free)
    banner.wait()
    log.check(memory=r"^\d+ MiB of the limit of \d+ MiB of memory are used")
