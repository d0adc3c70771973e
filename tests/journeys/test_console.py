"""A newcomer in a browser: logs in, sees vehicles drive, plays their cameras."""

import json
import os
import subprocess
import sys

import pytest

from motorpool.bench.load.browser import find_chromium
from motorpool.bench.server import EMAIL

PLAY_SECONDS = 4
"""Longer plays are runs of `motorpool bench play`."""


@pytest.fixture
def fleet(request, start_server, forks):
    """A server with two simulated vehicles; `indirect` gives it further settings."""
    settings = {"MOTORPOOL_REGISTER_UNKNOWN": "false", **getattr(request, "param", {})}
    with start_server(settings) as server:
        arguments = ["--server", server.url, "--port-offset", str(server.offset), "--vehicles", "2"]
        arguments += ["--seed", "7"]
        login = {"MOTORPOOL_SIMULATE_EMAIL": EMAIL, "MOTORPOOL_SIMULATE_PASSWORD": server.password}
        vehicles = forks.popen(
            ["simulate", *arguments],
            cwd=server.folder,
            env={**os.environ, **login},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield server
        finally:
            vehicles.terminate()
            vehicles.wait(60)


def watch(server, folder):
    """What a viewer saw."""
    command = [sys.executable, "-m", "motorpool.bench.load.browser", server.url, EMAIL]
    command += ["--seconds", str(PLAY_SECONDS), "--vehicles", "2", "--picture", str(folder / "page.png")]
    watched = subprocess.run(
        command,
        env={**os.environ, "MOTORPOOL_BROWSER_PASSWORD": server.password},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert watched.returncode == 0, watched.stderr
    return json.loads(watched.stdout)


def assert_played(found):
    """The picture moved and the page found no fault; `motorpool bench play` counts stalls."""
    assert found["complaints"] == []
    assert found["played_seconds"] > 0


needs_chromium = pytest.mark.skipif(
    find_chromium() is None and os.environ.get("CI") != "true", reason="no Chromium on this machine"
)


@needs_chromium
@pytest.mark.timeout(300)
def test_a_newcomer_logs_in_sees_vehicles_and_a_live_picture_that_plays(fleet, tmp_path):
    found = watch(fleet, tmp_path)
    assert found["refused"] == "E-mail or password is wrong."
    assert found["online"] == 2
    assert found["size"] == [640, 360]
    assert_played(found)
    assert found["parts"] == 0
    assert (tmp_path / "page.png").stat().st_size > 10_000


@needs_chromium
@pytest.mark.timeout(200)
@pytest.mark.parametrize("fleet", [{"MOTORPOOL_VIDEO_PART_SECONDS": "0.4"}], indirect=True)
def test_where_there_are_parts_the_page_plays_them(fleet, tmp_path):
    found = watch(fleet, tmp_path)
    assert_played(found)
    assert found["parts"] > 0
