"""The package that `pip wheel .` makes of a checkout."""

import subprocess
import sys
from zipfile import ZipFile

from tests.checkouts import CONSOLE, ROOT, link_checkout


def make_wheel(checkout):
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", "made", "."]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_wheel_without_the_console_is_not_made(tmp_path):
    link_checkout(tmp_path, with_console=False)
    done = make_wheel(tmp_path)
    assert done.returncode != 0
    assert "the console is not built: run `make install`" in done.stdout + done.stderr
    assert not list(tmp_path.glob("made/*.whl"))


def test_a_wheel_has_the_console_the_migrations_and_the_texts(tmp_path):
    link_checkout(tmp_path, with_console=True)
    done = make_wheel(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("made/*.whl")
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {"api/main.py", "actors/words/catalogs/en.toml", "actors/geocoding/towns.json.gz"}
    for folder, pattern in ((CONSOLE, "**/*.*"), ("storage/migrations", "*.sql")):
        expected |= {str(path.relative_to(ROOT)) for path in (ROOT / folder).glob(pattern)}
    expected.discard("api/console/dist/.inputs")
    assert {f"motorpool/{name}" for name in expected} - names == set()
    assert not any("node_modules" in name or "/console/src/" in name for name in names)
