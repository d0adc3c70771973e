import os
import subprocess
import sys

import pytest

from motorpool.api.program.private_files import hide_from_others

ROOT = os.geteuid() == 0
PROGRAM = """
import os
from pathlib import Path
from motorpool.api.program.private_files import use_private_umask
use_private_umask()
Path("media").mkdir()
Path("media/photo.jpg").write_bytes(b"x")
"""


def mode(path):
    return path.stat().st_mode & 0o7777


def test_new_files_are_the_servers_own(tmp_path):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True, umask=0o022)
    # Where root serves, PostgreSQL runs as another user, which passes through.
    assert mode(tmp_path / "media") == (0o711 if ROOT else 0o700)
    assert mode(tmp_path / "media/photo.jpg") == 0o600


@pytest.mark.parametrize(
    ("before", "after"), [(0o755, 0o751 if ROOT else 0o750), (0o700, 0o700), (0o1777, 0o1777)]
)
def test_data_of_earlier_releases_are_hidden_and_a_groups_rights_stay(tmp_path, before, after):
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(before)
    hide_from_others(folder)
    assert mode(folder) == after
