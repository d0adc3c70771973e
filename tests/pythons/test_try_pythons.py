import platform
import sys
from pathlib import Path

import pytest
from tests.pythons import try_pythons
from tests.pythons.try_pythons import Outcome, Python, attempt, candidates, identify, main, supported

HERE = Python(sys.version_info[:3], Path(sys._base_executable).resolve())


def make_program(path, says="", code=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    path.chmod(0o755)
    return path


def test_pythons_are_found_on_the_path_and_of_pyenv_each_once(tmp_path):
    bin_folder, root = tmp_path / "bin", tmp_path / "pyenv"
    this = bin_folder / "python3.11"
    bin_folder.mkdir()
    this.symlink_to(sys.executable)
    again = root / "versions" / "x" / "bin" / "python3"
    again.parent.mkdir(parents=True)
    again.symlink_to(sys.executable)
    shim = make_program(bin_folder / "python3.12", code=127)
    old = make_program(root / "versions" / "3.9.1" / "bin" / "python3", f"3 9 1 {tmp_path}/old")
    other = make_program(root / "versions" / "3.12.99" / "bin" / "python3", f"3 12 99 {tmp_path}/other one")
    new = make_program(root / "versions" / "3.99.1" / "bin" / "python3", f"3 99 1 {tmp_path}/new")
    make_program(bin_folder / "python3.11-config")
    environment = {"PATH": f"{bin_folder}:/nowhere", "PYENV_ROOT": str(root)}
    found = list(candidates(environment))
    assert sorted(found) == sorted([this, shim, again, old, other, new])
    assert identify(found, supported()) == [HERE, Python((3, 12, 99), tmp_path / "other one")]
    assert HERE.title == platform.python_version()


def test_a_python_that_is_not_there_leaves_nothing_to_try(tmp_path, capsys):
    assert main([str(tmp_path / "python3.11")]) == 1
    assert capsys.readouterr().out == "there is no Python to try\n"


@pytest.mark.parametrize(
    ("says", "kind", "result"),
    [
        ("ERROR: No matching distribution found for av==18.1.0 (from x)", "locked", "no wheel of av==18.1.0"),
        ("ERROR: No matching distribution found for av>=18.1", "newest", "NOT INSTALLED"),
        ("ERROR: the network is unreachable", "locked", "NOT INSTALLED"),
    ],
)
def test_what_the_lock_file_does_not_cover_is_no_failure(tmp_path, says, kind, result):
    python = Python((3, 99, 0), make_program(tmp_path / "python", says, 1))
    outcome = attempt(python, tmp_path / "x.whl", kind)
    assert (outcome.result, outcome.is_failure) == (result, result == "NOT INSTALLED")
    assert not outcome.is_failure or says in outcome.details


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([Outcome("works"), Outcome("works")], 0),
        ([Outcome("no wheel of av==18.1.0"), Outcome("works")], 0),
        ([Outcome("works"), Outcome("FAILED", is_failure=True, details="KeyError: 7")], 1),
    ],
)
def test_one_failure_fails_the_run_and_is_shown(monkeypatch, capsys, outcomes, code):
    tried = iter(outcomes)
    monkeypatch.setattr(try_pythons, "build_wheel", lambda folder: folder / "x.whl")
    monkeypatch.setattr(try_pythons, "attempt", lambda *_: next(tried))
    assert main([sys.executable]) == code
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].split("  ")[0] == HERE.title
    assert all(outcome.result in shown and outcome.details in shown for outcome in outcomes)
