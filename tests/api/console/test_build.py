import json
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from motorpool.api.console import build, nodejs

CONSOLE = Path(str(files("motorpool.api") / "console"))


def test_what_is_taken_from_npm_is_pinned_with_its_digest():
    project = json.loads((CONSOLE / "package.json").read_text())
    locked = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    wanted = project["dependencies"] | project["devDependencies"]
    root = locked.pop("")
    assert wanted == root["dependencies"] | root["devDependencies"]
    assert {f"node_modules/{name}" for name in wanted} <= set(locked)
    for name, entry in locked.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name


def test_node_of_the_machine_is_used_where_it_is_new_enough(monkeypatch, tmp_path):
    for version, used in (("v20.20.2", False), ("v22.11.9", False), ("v22.12.0", True), ("v24.1.0", True)):
        program = tmp_path / "node"
        program.write_text(f"#!/bin/sh\necho {version}\n")
        program.chmod(0o755)
        monkeypatch.setattr(nodejs.shutil, "which", lambda name: str(tmp_path / name))
        monkeypatch.setattr(nodejs, "_find_wheel", lambda: None)
        found = nodejs.find_node(install=False)
        assert found == (nodejs.Node(program, (str(tmp_path / "npm"),)) if used else None), version


@pytest.fixture
def without_network(monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(build, "is_current", lambda _: False)
    monkeypatch.setattr(build, "write_sources", lambda _: None)
    monkeypatch.setattr(nodejs, "_find_wheel", lambda: None)
    monkeypatch.setattr(nodejs.shutil, "which", lambda _: None)
    monkeypatch.setattr(nodejs.subprocess, "run", broken)


def test_without_network_the_build_says_so_in_a_line_and_goes_on(without_network, capsys):
    assert build.main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "The console was not built, because Node.js or its packages are missing (no route to"
    )
    assert said.count("\n") == 1


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_network_the_checks_are_skipped_except_in_ci(without_network, monkeypatch, capsys, ci, code):
    monkeypatch.setenv("CI", ci)
    assert build.main(["run", "check"]) == code
    assert capsys.readouterr().out.startswith("check of the console: skipped, because")


def test_a_changed_source_asks_for_a_build(monkeypatch, tmp_path):
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "main.tsx"
    source.write_text("one")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "INPUTS", ("src",))
    first = build.digest_of_sources()
    assert build.digest_of_sources() == first
    source.write_text("two")
    second = build.digest_of_sources()
    source.rename(tmp_path / "src" / "other.tsx")
    third = build.digest_of_sources()
    assert len({first, second, third}) == 3
    # What only tests read changes nothing.
    (tmp_path / "src" / "testing").mkdir()
    for name in ("main.test.tsx", "testing/page.tsx"):
        (tmp_path / "src" / name).write_text("three")
    assert build.digest_of_sources() == third


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """What npm is asked for; a Node.js that fetches nothing."""
    asked = []

    def run_npm(*words, seconds=0):
        asked.append(words)
        (tmp_path / "node_modules").mkdir(exist_ok=True)

    (tmp_path / "package-lock.json").write_text("{}")
    monkeypatch.setattr(nodejs, "HERE", tmp_path)
    monkeypatch.setattr(nodejs, "PACKAGES", tmp_path / "node_modules")
    node = SimpleNamespace(run_npm=run_npm)
    return lambda checks: (nodejs.install_packages(node, checks=checks), list(asked), asked.clear())[1]


def test_packages_are_fetched_once_for_a_lock_file_a_platform_and_the_checks(fetched, monkeypatch, tmp_path):
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    assert fetched(False) == [("ci", "--omit=dev", *options)]
    assert fetched(False) == []
    assert fetched(True) == [("ci", *options)]
    assert fetched(False) == fetched(True) == []
    (tmp_path / "package-lock.json").write_text('{"changed": true}')
    assert len(fetched(True)) == 1
    monkeypatch.setattr(nodejs.platform, "platform", lambda terse: "Plan9")
    assert len(fetched(False)) == 1
