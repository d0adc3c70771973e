"""The package that `pip wheel .` makes of a checkout."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = (".src", "pyproject.toml", "setup.py", "README.md", "LICENSE")


@pytest.fixture
def checkout(tmp_path):
    """A copy of the repository, made of links, in which the console has not been built."""
    for name in NEEDED:
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def make_wheel(checkout):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", "made", "."]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_wheel_without_the_console_is_not_made(checkout):
    done = make_wheel(checkout)
    assert done.returncode != 0
    assert "the console is not built: run `make install`" in done.stdout + done.stderr
    assert not list(checkout.glob("made/*.whl"))


def test_a_wheel_has_the_console_the_migrations_and_the_texts(checkout):
    page = checkout / "api" / "console" / "dist"
    page.parent.mkdir(parents=True)
    page.symlink_to(ROOT / "api" / "console" / "dist")
    done = make_wheel(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = checkout.glob("made/*.whl")
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {"api/main.py", "actors/words/catalogs/en.toml"}
    for folder, pattern in (("api/console/dist", "**/*.*"), ("storage/migrations", "*.sql")):
        expected |= {str(path.relative_to(ROOT)) for path in (ROOT / folder).glob(pattern)}
    expected.discard("api/console/dist/.inputs")
    assert {f"motorpool/{name}" for name in expected} - names == set()
    assert not any("node_modules" in name or "/console/src/" in name for name in names)
