"""The version of the program is written in pyproject.toml, and what it brings in CHANGELOG.md."""

import json
import re
import tomllib
from pathlib import Path

from motorpool.api.version import INTERFACE, program_version

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
SECTIONS = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def numbers(version):
    assert re.fullmatch(r"\d+\.\d+\.\d+", version), version
    return tuple(map(int, version.split(".")))


def following(version):
    """Return the versions that may come next."""
    major, minor, patch = numbers(version)
    return [(major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)]


def test_the_interface_and_the_program_have_versions_of_their_own():
    assert INTERFACE == "8.20.0"
    assert program_version() == VERSION, "run `make install`"


def test_the_newest_section_of_the_changelog_is_this_version_or_the_next():
    versions = [numbers(section) for section in SECTIONS]
    assert versions == sorted(versions, reverse=True)
    assert numbers(VERSION) in versions[:2]
    assert versions[0] in [numbers(VERSION), *following(VERSION)]


def test_the_version_is_written_in_one_place():
    assert "version" not in json.loads((ROOT / "api/console/package.json").read_text(encoding="utf-8"))
    for folder in ("actors", "api", "bench", "codecs", "runtime", "storage"):
        for path in (ROOT / folder).rglob("*.py"):
            if "node_modules" not in path.parts:
                text = path.read_text(encoding="utf-8")
                assert not re.search(r"""(?i)version["']?\s*[=:]\s*["']\d+\.\d+\.\d+""", text), path
