"""Runs of pytest in several processes, each of a few tests in a folder of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start({"test_a.py": "…"}, "-x")`: pytest in two processes on these files."""
    with ExitStack() as stack:

        def started(files: dict[str, str], *options: str) -> subprocess.Popen[str]:
            (tmp_path / "pytest.ini").write_text("[pytest]\n")
            for name, text in files.items():
                (tmp_path / name).write_text(text)
            plugins = [
                "-p",
                "tests.parallel",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                "-p",
                "no:schemathesis",
            ]
            folder = ["--rootdir", str(tmp_path), str(tmp_path)]
            # Where this process is in the background, it may have been started without SIGINT.
            listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
            program = f"{listen}; import runpy; runpy.run_module('pytest', run_name='__main__')"
            words = [sys.executable, "-c", program, *plugins, "-n", "2", *folder, *options]
            pipe, both = subprocess.PIPE, subprocess.STDOUT
            run = stack.enter_context(subprocess.Popen(words, cwd=ROOT, stdout=pipe, stderr=both, text=True))
            stack.callback(run.kill)
            return run

        yield started


def outcomes(output: str) -> dict[str, int]:
    """What the last line counts, by word."""
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", output.splitlines()[-1])}


SHARED = """
import os, pytest, warnings

@pytest.fixture(scope="session")
def session_process():
    return os.getpid()

@pytest.fixture(scope="module")
def module_process():
    return os.getpid()
"""


def test_tests_of_a_file_run_in_one_process_and_failures_are_told_as_everywhere(
    start: Start, tmp_path: Path
) -> None:
    test = """
import os, warnings

def test_first(module_process, session_process):
    assert module_process == session_process == os.getpid()

def test_second(module_process):
    assert module_process == os.getpid()

def test_third(tmp_path):
    print("words of NAME", tmp_path)
    warnings.warn("a warning of NAME")
    left = "LEFT"
    assert left == "right"
"""
    files = {f"test_{name}.py": test.replace("NAME", name).replace("LEFT", name * 3) for name in "abcd"}
    run = start({"conftest.py": SHARED, **files}, "--durations=3", f"--junit-xml={tmp_path}/report.xml")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, output
    assert outcomes(output)["failed"] == 4, output
    assert outcomes(output)["passed"] == 8
    assert outcomes(output)["warnings"] == 4
    for name in "abcd":
        assert f"AssertionError: assert '{name * 3}' == 'right'" in output
        assert output.count(f"words of {name} ") == 1
        assert f"UserWarning: a warning of {name}" in output
    assert "slowest 3 durations" in output
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("12", "4")


def test_a_process_that_dies_fails_its_test_and_is_replaced(start: Start) -> None:
    deadly = """
import os, signal

def test_before():
    pass

def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_between():
    pass

def test_left():
    os._exit(3)

def test_after():
    pass
"""
    run = start({"test_a.py": deadly, "test_b.py": deadly, "test_c.py": "def test(): pass"})
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, output
    assert outcomes(output)["failed"] == 4
    assert outcomes(output)["passed"] == 7
    assert "a SIGKILL ended the process of this test" in output
    assert "code 3 was the end of the process of this test" in output


def test_the_end_of_a_session_is_a_test_too(start: Start) -> None:
    conftest = """
import pytest

@pytest.fixture(scope="session", autouse=True)
def careless():
    yield
    raise OSError("nobody closed the door")
"""
    run = start({"conftest.py": conftest, "test_a.py": "def test(): pass"})
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, output
    assert "OSError: nobody closed the door" in output
    assert outcomes(output)["error"] == 1


WAITS = """
import os, pathlib, time, pytest

@pytest.fixture(scope="session")
def folder():
    yield pathlib.Path(__file__).parent
    (pathlib.Path(__file__).parent / f"ended-{os.getpid()}").touch()

def test_waits(folder):
    (folder / f"began-{os.getpid()}").touch()
    time.sleep(60)
"""


def test_ctrl_c_ends_the_fixtures_of_all_processes(start: Start, tmp_path: Path) -> None:
    run = start({"test_a.py": WAITS, "test_b.py": WAITS})
    while len(list(tmp_path.glob("began-*"))) < 2:
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.INTERRUPTED, output
    began = {path.name.removeprefix("began-") for path in tmp_path.glob("began-*")}
    assert {path.name.removeprefix("ended-") for path in tmp_path.glob("ended-*")} == began
    for process in began:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


def test_the_first_failure_ends_the_others(start: Start, tmp_path: Path) -> None:
    fails = """
import pathlib, time

def test_fails():
    while not list(pathlib.Path(__file__).parent.glob("began-*")):
        time.sleep(0.01)
    assert False

def test_after():
    pass
"""
    run = start({"test_a.py": WAITS, "test_b.py": fails, "test_c.py": WAITS}, "-x")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, output
    assert "stopping after 1 failures" in output
    assert outcomes(output)["failed"] == 1
    assert len(list(tmp_path.glob("began-*"))) == len(list(tmp_path.glob("ended-*"))) == 1


def test_a_file_that_cannot_be_collected_is_told_before_any_test_runs(start: Start) -> None:
    run = start({"test_a.py": "import nowhere_to_be_found", "test_b.py": "def test(): pass"})
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "No module named 'nowhere_to_be_found'" in output


def test_a_run_without_failures_leaves_no_temporary_files(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "temporary"
    root.mkdir()
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(root))
    test = """
def test_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    (folder / "file").write_text("text")
    print("made", folder)
"""
    run = start({"test_a.py": test, "test_b.py": test}, "-rP", "-o", "tmp_path_retention_policy=failed")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == pytest.ExitCode.OK, output
    assert output.count(f"made {root}/") == 2
    assert not [path for path in root.rglob("*") if path.is_file()]
