"""The tests of the console that need no server: functions, and components before a page without a browser."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONSOLE = Path(__file__).parents[3] / "api" / "console"


# Of a run that takes 8 s where it is alone, and four minutes where twenty others run as well.
@pytest.mark.timeout(900)
def test_functions_and_components_do_what_their_own_tests_say(tmp_path):
    words = [sys.executable, str(CONSOLE / "build.py"), "run", "test"]
    # Node.js leaves a cache there.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    if "skipped" in ended.stdout.partition("\n")[0]:
        pytest.skip(ended.stdout)
    assert " passed" in ended.stdout
