"""A whole server, with its database, on a disk that becomes full and has room again."""

import os
import secrets
import subprocess
from contextlib import suppress

import httpx
import pytest
from tests.journeys.noticed import Log, Reporter, banner_of, measured

DISK_MIB = 400
PHONE = "13966600001"
FULL = "the disk of the database is full"


@pytest.fixture
def small_disk(open_folder):
    """A folder on a file system of its own, which holds DISK_MIB."""
    folder = open_folder / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=0755", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder, room_mib):
    """Take all that is left but `room_mib`; the file that holds it."""
    ballast = folder / "ballast"
    # Without a buffer, which would have to be written when there is no room any more.
    with ballast.open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        file.truncate(max(0, file.tell() - room_mib * (1 << 20)))
    return ballast


def create_until_refused(client, kept):
    """Create drivers, whose ids are added to `kept`; the answer that refuses one."""
    for _ in range(5000):
        # What does not compress, so that the database needs room for it soon.
        name = f"n{len(kept)}"
        body = {"name": name, "uniqueId": name, "attributes": {"data": secrets.token_hex(8_000)}}
        answer = client.post("/drivers", json=body)
        if answer.status_code != 200:
            return answer
        kept.append(answer.json()["id"])
    raise AssertionError("the disk is not full")


def test_a_full_disk_is_said_once_and_loses_nothing_that_was_acknowledged(
    start_server, small_disk, connected, eventually
):
    settings = {
        "MOTORPOOL_DATABASE": "embedded",
        "MOTORPOOL_DATA": str(small_disk / "data"),
        "MOTORPOOL_FILES_RESERVE_BYTES": "0",
    }
    with (
        start_server(settings) as server,
        server.client() as client,
        connected(server, PHONE) as peer,
        banner_of(server, client) as banner,
    ):
        reporter, kept = Reporter(peer), []
        reporter.report()

        def is_healthy():
            return client.get("/health").status_code == 200

        def is_told():
            answer = client.get("/health")
            assert answer.status_code == 500
            return FULL in answer.text and "the disk of the server is nearly full" in answer.text

        # Tables cannot grow; PostgreSQL goes on.
        log = Log(server)
        ballast = fill(small_disk, room_mib=0)
        refused = create_until_refused(client, kept)
        assert (refused.status_code, refused.text) == (503, FULL)
        assert int(refused.headers["Retry-After"]) >= 1
        banner.wait("database", "disk")
        assert eventually(is_told)
        assert measured(server) == {"database", "disk"}
        reporter.send()
        for number in range(20):
            answer = client.post("/groups", json={"name": secrets.token_hex(50), "attributes": {"n": number}})
            assert answer.status_code in {200, 503}
            reporter.send()
        # What is stored can be read.
        assert client.get("/devices").json()
        assert client.get("/positions").json()
        os.remove(ballast)
        eventually(is_healthy)
        banner.wait()
        reporter.wait()
        assert measured(server) == set()
        log.check(
            database=f"^{FULL}: .*No space left on device", disk=rf"^\d+ MiB of {DISK_MIB} MiB are free at "
        )

        # Its log cannot grow either, so PostgreSQL ends, and cannot start.
        log = Log(server)
        ballast = fill(small_disk, room_mib=14)
        create_until_refused(client, kept)

        def says_why():
            answer = client.get("/devices")
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) >= 1
            return answer.text == FULL

        eventually(says_why)
        assert eventually(is_told)
        banner.wait("database", "disk")
        for _ in range(20):
            reporter.send()
        answer = httpx.get(
            f"http://{server.host}:{server.osmand_port}/", params={"id": "o", "lat": 1, "lon": 2}
        )
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) >= 1
        reporter.check_unanswered()
        os.remove(ballast)
        eventually(is_healthy)
        banner.wait()
        reporter.wait()
        log.check(database="No space left on device|cannot be reached", disk="MiB are free at ")

        # Nothing that was answered is lost.
        reporter.check_stored(client, PHONE)
        assert {driver["id"] for driver in client.get("/drivers").json()} == set(kept)
        assert server.process.poll() is None
