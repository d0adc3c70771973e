import json
from importlib.resources import files

from motorpool.api.console import vendor


def test_what_is_taken_from_npm_is_pinned_with_its_digest():
    console = files("motorpool.api") / "console"
    wanted = json.loads((console / "package.json").read_text())["dependencies"]
    locked = json.loads((console / "package-lock.json").read_text())["packages"]
    assert set(wanted) == {"hls.js"}
    entry = locked["node_modules/hls.js"]
    assert entry["version"].startswith("1.")
    assert entry["integrity"].startswith("sha512-")


def test_the_licence_comes_with_the_file():
    assert set(vendor.FILES.values()) == {"hls.min.js", "hls.LICENSE.txt"}


def test_npm_of_the_machine_is_used_where_there_is_one(monkeypatch):
    monkeypatch.setattr(vendor.shutil, "which", lambda name: f"/opt/{name}")
    assert vendor.find_npm() == ["/opt/npm"]


def test_without_network_the_program_says_so_and_goes_on(monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(vendor.subprocess, "run", broken)
    assert vendor.main() == 1
    assert "the page will link playlists only" in capsys.readouterr().err
