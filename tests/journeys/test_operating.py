"""The commands of docs/operating.md, and those of README that it refers to, run as they are shown."""

import json
import re
import subprocess
import tempfile
from collections import deque
from pathlib import Path

import httpx
import pytest
from tests.journeys.operating import PROGRAMS, Machine, Origin
from tests.pages import ROOT, commands, read_blocks, strip_sudo

PAGE = ROOT / "docs" / "operating.md"
README = ROOT / "README.md"
SERVICE = "Run it as a service"
AUTH = ("me@example.com", "my-password")
RUN_AS_SHOWN = {"curl", "grep", "true", "tee", "rm", "git", "make", "cp", "df", "du", "sed"}
"""Programs of the pages that are the machine's own."""
NEXT_MIGRATION = "storage/migrations/9999_next.sql"


class Page:
    """The shell blocks of a page, taken in their order."""

    def __init__(self, path, *headings):
        blocks = read_blocks(path, "sh")
        self.left = deque(block for block in blocks if not headings or block.heading in headings)

    def take(self, heading):
        """Return the next block, which is below this heading."""
        block = self.left.popleft()
        assert block.heading == heading
        return block.text


@pytest.fixture
def page():
    return Page(PAGE)


@pytest.fixture
def readme():
    return Page(README, SERVICE)


def every_command():
    for block in (*Page(PAGE).left, *Page(README, SERVICE).left):
        for words in commands(block.text):
            if words[0] not in ("motorpool()", "}"):
                yield words


def test_every_block_is_a_shell_script():
    for block in (*Page(PAGE).left, *Page(README, SERVICE).left):
        done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{block.text}{done.stderr}"


def test_little_is_replaced_and_all_of_it_is_used():
    used = {strip_sudo(words)[1][0] for words in every_command()}
    ours = {"motorpool", "/opt/motorpool/.venv/bin/motorpool"}
    assert used == ours | RUN_AS_SHOWN | PROGRAMS.keys() - {"sudo"}
    assert len(PROGRAMS) <= 10


def test_files_and_targets_that_are_named_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for words in every_command():
        for word in words:
            found = re.fullmatch(r"/opt/motorpool/((?!\.venv).+)", word)
            assert not found or (ROOT / found[1]).exists(), words
        if strip_sudo(words)[1][0] == "make":
            assert re.search(rf"^{words[-1]}:", makefile, re.MULTILINE), words


@pytest.fixture
def machine(older_postgres):
    with tempfile.TemporaryDirectory(prefix="m-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = Machine(folder)
        made.environment["ADMINISTRATION"] = older_postgres.url("postgres", "boss")
        (folder / "var" / "run" / "postgresql").symlink_to(older_postgres.folder)
        yield made
        made.stop()
        older_postgres.run("drop database if exists motorpool with (force)")
        older_postgres.run("drop role if exists motorpool")


@pytest.fixture
def origin(machine):
    folder = machine.folder / "origin"
    folder.mkdir()
    return Origin(ROOT, folder)


def names(machine):
    with httpx.Client(base_url=f"{machine.url}/api", auth=AUTH, timeout=30) as client:
        return sorted(device["name"] for device in client.get("/devices").raise_for_status().json())


def add_device(machine, name):
    with httpx.Client(base_url=f"{machine.url}/api", auth=AUTH, timeout=30) as client:
        client.post("/devices", json={"name": name, "uniqueId": name}).raise_for_status()


def version(machine):
    return httpx.get(f"{machine.url}/api/server", auth=AUTH).raise_for_status().json()["version"]


HEALTH = "curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-connrefused {}/api/health"


def await_health(machine):
    assert machine.run(HEALTH.format(machine.url)) == "OK"


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_command_works_as_it_is_shown(page, readme, machine, origin):
    """Installs for real, by the lock file, with the console built."""
    # A new machine.
    machine.run(page.take("Install"))
    machine.run(readme.take(SERVICE))
    machine.run(page.take("Install"))
    shown = machine.run(page.take("Install"), given=f"{AUTH[1]}\n")
    assert shown.startswith("OK{")
    assert f"{machine.url}/#setup=" in shown
    assert shown.endswith(f"user {AUTH[0]} created, administrator\n")
    machine.run(readme.take(SERVICE), given=f"{AUTH[1]}\n")
    add_device(machine, "Van")
    picture = machine.path("/var/lib/motorpool/media/Van/front.jpg")
    machine.run(f"sudo -u motorpool mkdir -p {picture.parent}; sudo -u motorpool touch {picture}")

    shown = machine.run(page.take("Monitor"))
    assert shown.startswith("OK")
    assert 'motorpool_condition{condition="disk"} 0.0\n' in shown

    # Backups, of which the newest takes the place of the older one.
    heading = "Back up and restore"
    file = machine.path("/var/backups/motorpool/fleet.backup")
    assert machine.run(page.take(heading)).startswith(f"wrote {file}: ")
    assert file.stat().st_mode & 0o777 == 0o600
    machine.run(page.take(heading))
    add_device(machine, "Bus")
    setting, line = machine.path("/etc/cron.d/motorpool").read_text().splitlines()
    schedule, command = re.fullmatch(r"((?:\S+ ){5})motorpool (.*)", line).groups()
    assert schedule == "30 3 * * * "
    assert machine.run(f"sudo -u motorpool {setting} {command}").startswith(f"wrote {file}: ")
    assert machine.run(page.take(heading)).startswith("restored from ")
    assert names(machine) == ["Bus", "Van"]
    add_device(machine, "Too late")
    picture.unlink()
    machine.run(page.take(heading))
    await_health(machine)
    assert names(machine) == ["Bus", "Van"]
    assert picture.exists()

    # To a newer release and back again.
    before = version(machine)
    source = origin.read("api/version.py")
    origin.commit({"api/version.py": source.replace(f'INTERFACE = "{before}"', 'INTERFACE = "9.9.9"')})
    machine.run(page.take("Upgrade"))
    assert version(machine) == "9.9.9"
    add_device(machine, "Of the newer release")
    machine.run(page.take("Upgrade"))
    await_health(machine)
    assert version(machine) == before
    assert names(machine) == ["Bus", "Van"]
    block = page.take("Two servers")
    assert machine.run(block) == ""
    origin.commit({NEXT_MIGRATION: "select 1;\n"})
    assert machine.run(block) == f"{NEXT_MIGRATION}\n"

    shown = machine.run(page.take("When something is short or gone"))
    assert shown.endswith("\n1048576\nNTPSynchronized=yes\n")
    keys = json.loads(machine.run(page.take("Change keys and passwords")))
    assert len(keys) == 2

    # To another database and back.
    heading = "Move the database"
    assert "copied " in machine.run(page.take(heading))
    machine.run(page.take(heading))
    machine.run(page.take(heading))
    assert not machine.path("/var/lib/motorpool/postgres").exists()
    assert names(machine) == ["Bus", "Van"]
    add_device(machine, "Moved")
    machine.run(page.take(heading))
    await_health(machine)
    assert names(machine) == ["Bus", "Moved", "Van"]
    assert machine.path("/var/lib/motorpool/postgres").exists()

    machine.run(page.take("Uninstall"))
    left = [path for path in machine.folder.rglob("*") if "motorpool" in path.name]
    assert [path for path in left if "origin" not in path.parts] == []
    assert (machine.folder / "users").read_text().splitlines()[-1] == "removed motorpool"
    assert not page.left
    assert not readme.left
    assert "Traceback" not in machine.log
