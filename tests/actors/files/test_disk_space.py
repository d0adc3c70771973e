"""Room on a real disk."""

import errno
import shutil

import pytest

from motorpool.actors.files.disk_space import require_free_space


def test_what_fits_beside_the_reserve_may_be_written(tmp_path):
    require_free_space(tmp_path, 1000, 1000)


@pytest.mark.parametrize("which", ["size", "reserve"])
def test_what_eats_into_the_reserve_is_a_full_disk(tmp_path, which):
    free = shutil.disk_usage(tmp_path).free
    size, reserve = (2 * free, 0) if which == "size" else (0, 2 * free)
    with pytest.raises(OSError, match="would be free") as refused:
        require_free_space(tmp_path, size, reserve)
    assert refused.value.errno == errno.ENOSPC
