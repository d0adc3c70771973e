"""A whole server, with its database, on a disk that becomes full and has room again."""

import secrets
import subprocess

import pytest

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse
from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
DISK_MIB = 400
ROOM_MIB = 24
"""A segment of PostgreSQL's log, and some rows."""
PHONE = "13966600001"
DAY = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}


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


def fill(folder):
    """Take all that is left but ROOM_MIB; the file that holds it."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 20))
                file.flush()
        except OSError:
            pass
        file.truncate(max(0, file.tell() - ROOM_MIB * (1 << 20)))
    return ballast


def report(peer):
    peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now())))
    return peer.messages(lambda message: isinstance(message, GeneralResponse))


def test_a_full_disk_refuses_what_it_cannot_keep_and_goes_on_once_there_is_room(
    start_server, small_disk, connected, eventually
):
    settings = {
        "MOTORPOOL_DATABASE": "embedded",
        "MOTORPOOL_DATA": str(small_disk / "data"),
        "MOTORPOOL_FILES_RESERVE_BYTES": "0",
    }
    with start_server(settings) as server, server.client() as client:
        with connected(server, PHONE) as peer:
            assert report(peer)
        (device,) = client.get("/devices", params={"uniqueId": PHONE}).json()
        ballast = fill(small_disk)
        kept, refused = [], None
        while refused is None:
            assert len(kept) < 2000, "the disk is not full"
            # What does not compress, so that the database needs room for it soon.
            body = {"name": f"n{len(kept)}", "attributes": {"data": secrets.token_hex(30_000)}}
            answer = client.post("/drivers", json={**body, "uniqueId": f"u{len(kept)}"})
            if answer.status_code == 200:
                kept.append(answer.json()["id"])
            else:
                refused = answer
        assert refused.status_code in {500, 503}, refused.text
        # The program stands, and says how it is.
        assert client.get("/health").status_code in {200, 500}
        assert server.process.poll() is None
        ballast.unlink()
        eventually(lambda: client.get("/health").status_code == 200)
        assert kept
        found = eventually(lambda: listed(client))
        # Nothing that was answered is lost.
        assert set(kept) <= {driver["id"] for driver in found}
        with connected(server, PHONE) as peer:
            assert report(peer)
        assert len(client.get("/positions", params={"deviceId": device["id"], **DAY}).json()) == 2


def listed(client):
    answer = client.get("/drivers")
    return answer.json() if answer.status_code == 200 else None
