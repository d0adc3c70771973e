"""What the README shows works as it stands there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from motorpool.bench.server import EMAIL, run_server

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def block_after(heading: str) -> str:
    """The first shell block below a heading."""
    found = re.search(r"```sh\n(.*?)```", README.partition(f"\n## {heading}\n")[2], re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.skipif(
    shutil.which("curl") is None and not os.environ.get("CI"), reason="there is no curl program here"
)
def test_the_five_calls_work_as_they_are_shown():
    with run_server() as server:
        script = block_after("The five calls")
        assert script.count("curl -sf") == 5
        script = script.replace("http://localhost:8082", server.url)
        script = script.replace("me@example.com:secret", f"{EMAIL}:{server.password}")
        # Each answer in a line of its own.
        script = re.sub(r"^(curl .*?[^\\])$", r"\1; echo", script, flags=re.MULTILINE | re.DOTALL)
        done = subprocess.run(
            ["bash", "-euc", script], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    device, positions, history, command = (
        json.loads(line) for line in done.stdout.splitlines() if line.strip()
    )
    assert (device["id"], device["uniqueId"]) == (1, "13912345678")
    assert positions == history == []
    assert (command["deviceId"], command["type"]) == (1, "positionSingle")
