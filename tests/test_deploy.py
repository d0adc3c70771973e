"""What is in deploy/, compared with what the server is."""

import re
from pathlib import Path

import pytest

from motorpool.codecs.devices import CODECS

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PORTS = {"8082", "5263", "5363"} | {
    port
    for codec in CODECS.values()
    for port in (f"{codec.port}", *([f"{codec.port}/udp"] if codec.udp else []))
}
"""HTTP, video, and those of all protocols."""


def test_the_container_exposes_and_publishes_every_port():
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    [exposed] = re.findall("^EXPOSE (.*)$", text, re.MULTILINE)
    assert set(exposed.split()) == PORTS
    assert set(re.findall(r"-p \d+:(\S+)", text)) == PORTS


def test_readme_names_every_port():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\|[^|\n]+\|([^|\n]+)\|$", text, re.MULTILINE)
    for codec in CODECS.values():
        kind = "TCP and UDP" if codec.udp else "(TCP|HTTP)"
        assert any(re.search(f"{kind} {codec.port}\\b", cell) for cell in cells), codec


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_the_proxies_name_no_port_of_devices(name):
    """They named four of fifteen."""
    ports = {port.partition("/")[0] for port in PORTS - {"8082"}}
    assert not ports & set(re.findall(r"\d+", (DEPLOY / name).read_text(encoding="utf-8")))


def test_a_container_is_built_of_sources_only():
    """An ignore file that lists what is copied; whatever else lies in a checkout, such as keys, is not."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    copied = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    for name in re.findall(r"(?:-r|python) ([\w./-]+\.(?:lock|py))", copied):
        assert name.partition("/")[0] in kept
