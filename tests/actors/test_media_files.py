"""Uploaded files on disk."""

from datetime import UTC, datetime

import pytest

from motorpool.actors.media_files import save_media
from motorpool.codecs.reports import MediaFile

NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


async def test_a_file_lies_under_its_device_with_a_name_nobody_guesses(tmp_path):
    photo = MediaFile("image", "jpg", b"\xff\xd8content")
    names = {await save_media(tmp_path, "13912345678", photo, NOON) for _ in range(5)}
    assert len(names) == 5
    for name in names:
        assert name.startswith("20260305120000-")
        assert name.endswith(".jpg")
        assert (tmp_path / "13912345678" / name).read_bytes() == b"\xff\xd8content"
    assert len(list((tmp_path / "13912345678").iterdir())) == 5


@pytest.mark.parametrize("unique_id", ["../../etc", "..", "a/b", "a\\..\\b", ".hidden", "..."])
async def test_no_identity_leads_out_of_the_folder(tmp_path, unique_id):
    home = tmp_path / "media"
    name = await save_media(home, unique_id, MediaFile("image", "jpg", b"x"), NOON)
    (found,) = tmp_path.rglob(name)
    assert found.resolve().is_relative_to(home.resolve())
    assert found.parent.parent == home


async def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def full(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        await save_media(tmp_path, "1", MediaFile("image", "jpg", b"x"), NOON)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
