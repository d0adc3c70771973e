"""The lock files hold what pyproject.toml asks for, each with its hashes, and name no server."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUNTIME = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
CASES = {
    "requirements.lock": RUNTIME,
    "requirements-dev.lock": [*RUNTIME, *PROJECT["project"]["optional-dependencies"]["dev"]],
    "api/console/requirements.lock": PROJECT["dependency-groups"]["console"],
}


def entries(name):
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("name", CASES)
def test_a_lock_file_has_a_version_and_hashes_for_everything_asked_for(name):
    locked = {}
    for entry in entries(name):
        requirement, *hashes = entry.split(" --hash=")
        assert hashes, entry
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", each) for each in hashes), entry
        parsed = Requirement(requirement.strip())
        (pin,) = parsed.specifier
        assert pin.operator == "=="
        locked[canonicalize_name(parsed.name)] = pin.version
    for text in CASES[name]:
        wanted = Requirement(text)
        version = locked.get(canonicalize_name(wanted.name))
        assert version is not None, f"{text} is not in {name}: run `make lock`"
        assert wanted.specifier.contains(version), f"{name} has {wanted.name} {version}: run `make lock`"


@pytest.mark.parametrize("name", CASES)
def test_a_lock_file_names_no_server(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text


def test_a_server_runs_with_the_versions_that_the_tests_ran_with():
    tested = {entry.split(" ")[0] for entry in entries("requirements-dev.lock")}
    assert {entry.split(" ")[0] for entry in entries("requirements.lock")} <= tested


def test_the_container_and_make_install_compare_hashes():
    for name in ("Makefile", "deploy/Containerfile"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if "pip install" in line or line.startswith("\t$(PIP)"):
                assert "--require-hashes" in line or "--no-build-isolation" in line, (name, line)
