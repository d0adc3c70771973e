"""Uploaded files on disk."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaStore, folder_name
from motorpool.codecs.reports import MediaFile

NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


async def test_a_file_lies_under_its_device_with_a_name_nobody_guesses(tmp_path):
    photo = MediaFile("image", "jpg", b"\xff\xd8content")
    names = {await MediaFiles(MediaStore(tmp_path)).save("13912345678", photo, NOON) for _ in range(5)}
    assert len(names) == 5
    for name in names:
        assert name.startswith("20260305120000-")
        assert name.endswith(".jpg")
        assert (tmp_path / "13912345678" / name).read_bytes() == b"\xff\xd8content"
    assert len(list((tmp_path / "13912345678").iterdir())) == 5


@pytest.mark.parametrize("unique_id", ["../../etc", "..", "a/b", "a\\..\\b", ".hidden", "..."])
async def test_no_identity_leads_out_of_the_folder(tmp_path, unique_id):
    home = tmp_path / "media"
    name = await MediaFiles(MediaStore(home)).save(unique_id, MediaFile("image", "jpg", b"x"), NOON)
    (found,) = tmp_path.rglob(name)
    assert found.resolve().is_relative_to(home.resolve())
    assert found.parent.parent == home


async def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    (tmp_path / "1").mkdir()
    with pytest.raises(OSError, match="No space left"):
        await MediaFiles(MediaStore(tmp_path)).save("1", MediaFile("image", "jpg", b"x"), NOON)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("unique_id", "expected"),
    [
        ("13912345678", "13912345678"),
        ("Van 7 (ü)", "Van 7 (ü)"),
        ("a/b", "a%2Fb"),
        ("a_b", "a_b"),
        ("a%2Fb", "a%252Fb"),
        ("..", "%2E."),
        (".x", "%2Ex"),
        ("a\\b\0", "a%5Cb%00"),
    ],
)
def test_an_identity_reads_like_its_folder(unique_id, expected):
    assert folder_name(unique_id) == expected


@given(one=st.text(max_size=140), other=st.text(max_size=140))
def test_no_two_identities_share_a_folder_and_each_is_one_plain_name(one, other):
    name = folder_name(one)
    assert (name == folder_name(other)) == (one == other)
    assert name not in {"", ".", ".."}
    assert not set(name) & set("/\\\0")
    assert not name.startswith(".")
    assert len(name.encode("utf-8", "surrogatepass")) <= 255


async def test_a_devices_own_picture_is_the_last_one_given(tmp_path):
    await MediaFiles(MediaStore(tmp_path)).save("1", MediaFile("image", "jpg", b"photo"), NOON)
    assert await MediaFiles(MediaStore(tmp_path)).save_image("1", "jpg", b"one") == "device.jpg"
    assert await MediaFiles(MediaStore(tmp_path)).save_image("1", "png", b"two") == "device.png"
    kept = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert len(kept) == 2
    assert kept[1] == "device.png"
    assert (tmp_path / "1" / "device.png").read_bytes() == b"two"


async def test_a_folder_moves_with_its_device_and_leaves_nothing_of_what_was_there(tmp_path):
    photo = MediaFile("image", "jpg", b"x")
    mine = await MediaFiles(MediaStore(tmp_path)).save("old", photo, NOON)
    await MediaFiles(MediaStore(tmp_path)).save("new", photo, NOON)
    await MediaStore(tmp_path).move("old", "new")
    await MediaStore(tmp_path).move("nothing", "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == [mine]
    await MediaStore(tmp_path).remove("new")
    await MediaStore(tmp_path).remove("nothing")
    assert list(tmp_path.iterdir()) == []


async def test_images_and_moved_folders_survive_a_power_failure(tmp_path, disk_log):
    await MediaFiles(MediaStore(tmp_path)).save_image("1", "jpg", b"one")
    assert disk_log == [f"sync {tmp_path.name}", "sync .part", "rename device.jpg", "sync 1"]
    disk_log.clear()
    await MediaStore(tmp_path).move("1", "2")
    assert disk_log == ["rename 2", f"sync {tmp_path.name}"]


async def test_folders_of_devices_are_private(tmp_path):
    await MediaFiles(MediaStore(tmp_path / "media")).save_image("1", "jpg", b"one")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "media", tmp_path / "media" / "1")} == {0o700}
