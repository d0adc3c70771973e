import os
import shutil
import tempfile
from pathlib import Path

import pytest

from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres.embedded import binaries
from motorpool.storage.postgres.unprivileged import Identity, choose_identity, run_bounded

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
POSTGRES = binaries() / "postgres"


@pytest.fixture
def open_folder():
    """A folder that everybody may enter; pytest's own are closed, and TMPDIR may be."""
    usual = Path(tempfile.gettempdir())
    is_open = all(folder.stat().st_mode & 0o001 for folder in (usual, *usual.parents))
    folder = Path(tempfile.mkdtemp(prefix="motorpool-test-", dir=usual if is_open else "/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def path_with(tmp_path, monkeypatch):
    """Leaves only the named programs to be found."""

    def leave(*names):
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in ("sh", *names):
            (folder / name).symlink_to(shutil.which(name))
        monkeypatch.setenv("PATH", str(folder))

    return leave


async def test_whoever_is_chosen_runs_postgresql_and_writes_to_the_folder(tmp_path):
    identity, version = await choose_identity(POSTGRES, tmp_path)
    assert version.startswith("postgres (PostgreSQL) 18.")
    done = await run_bounded((*identity.prefix, "sh", "-c", f"touch {tmp_path}/file && id -u"), 20)
    assert done.returncode == 0
    assert done.stdout.strip() != b"0"


@as_root
async def test_root_becomes_another_user_where_that_one_can_enter(open_folder):
    # The real one is where this project is installed, which may be in a private folder.
    program = open_folder / "postgres"
    program.write_text("#!/bin/sh\necho postgres of user $(id -u)\n")
    program.chmod(0o755)
    data = open_folder / "data"
    data.mkdir()
    identity, version = await choose_identity(program, data)
    assert identity.prefix[0] == "setpriv"
    assert data.stat().st_uid == identity.user > 0
    assert version == f"postgres of user {identity.user}"


@as_root
async def test_root_in_a_private_folder_goes_to_a_name_space(open_folder):
    private = open_folder / "private"
    (private / "data").mkdir(parents=True)
    private.chmod(0o700)
    identity, _ = await choose_identity(POSTGRES, private / "data")
    assert identity.prefix[0] == "unshare"
    assert identity.user == 0


@as_root
async def test_where_nobody_can_enter_the_line_names_the_folder(open_folder, path_with):
    private = open_folder / "private"
    (private / "data").mkdir(parents=True)
    private.chmod(0o700)
    path_with("setpriv")
    with pytest.raises(SetupFailed) as failed:
        await choose_identity(POSTGRES, private / "data")
    assert str(private) in str(failed.value)
    assert "chmod o+x" in str(failed.value)
    assert "\n" not in str(failed.value)


@as_root
def test_data_changes_hands_with_all_that_is_in_it(open_folder):
    (open_folder / "sub").mkdir()
    (open_folder / "sub" / "file").write_text("x")
    (open_folder / "sub" / "link").symlink_to("/etc/hostname")
    owner = Path("/etc/hostname").stat().st_uid
    Identity(("setpriv",), 12345, 12345).chown(open_folder)
    assert {path.lstat().st_uid for path in open_folder.rglob("*")} == {12345}
    assert Path("/etc/hostname").stat().st_uid == owner


async def test_a_program_that_does_not_end_is_ended():
    done = await run_bounded(("sleep", "60"), 0.05)
    assert done.returncode != 0
    assert done.stderr == b"timed out after 0 s"


async def test_a_program_sees_none_of_the_users_postgresql_settings(monkeypatch):
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("LANG", "de_DE")
    done = await run_bounded(("env",), 20)
    assert b"PGPORT" not in done.stdout
    assert b"LC_ALL=C" in done.stdout
