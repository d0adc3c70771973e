"""Quotas and retention of files on a real disk."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from motorpool.actors.files import file_retention
from motorpool.actors.files.file_locks import lock_unwritten
from motorpool.actors.files.file_retention import MEDIA_NAMES, DeviceQuota
from motorpool.actors.files.media_files import MediaFiles, media_name
from motorpool.actors.files.media_store import MediaStore, folder_name, media_key, rendition_key
from motorpool.actors.video.capture_files import CAPTURE_NAMES, new_file_name
from motorpool.codecs.reports import MediaFile

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def kept(media: Path, device: str, seconds_ago: float, size: int, name: str = "") -> Path:
    """A file that was last written so long before NOW."""
    path = media / folder_name(device) / (name or new_file_name(NOW))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    at = NOW.timestamp() - seconds_ago
    os.utime(path, (at, at))
    return path


def sweep(media, **limits):
    return file_retention.sweep(MediaStore(media), CAPTURE_NAMES, **limits)


def test_the_oldest_files_of_all_devices_go_first_until_the_rest_fits(tmp_path):
    files = [kept(tmp_path, device, ago, 100) for device, ago in (("a", 50), ("b", 40), ("a", 30), ("b", 20))]
    other = tmp_path / "a" / "20260101000000-photo.jpg"
    other.write_bytes(bytes(1_000))
    swept = sweep(tmp_path, quota_bytes=250, oldest=None)
    assert (swept.total_bytes, set(swept.removed)) == (200, {files[0].name, files[1].name})
    assert [path.exists() for path in [*files, other]] == [False, False, True, True, True]
    assert sweep(tmp_path, quota_bytes=250, oldest=None).removed == ()


def test_what_is_being_written_counts_and_stays(tmp_path):
    writing, done = kept(tmp_path, "a", 50, 300), kept(tmp_path, "a", 20, 100)
    with lock_unwritten(writing):
        swept = sweep(tmp_path, quota_bytes=250, oldest=None)
    assert (swept.total_bytes, swept.removed) == (300, (done.name,))
    assert writing.exists()


def test_files_go_after_their_time(tmp_path):
    old, young = kept(tmp_path, "a", 86_401, 10), kept(tmp_path, "a", 86_399, 10)
    swept = sweep(tmp_path, quota_bytes=0, oldest=NOW - timedelta(days=1))
    assert swept.removed == (old.name,)
    assert young.exists()


def test_without_quota_and_time_nothing_goes(tmp_path):
    path = kept(tmp_path, "a", 10**9, 10)
    assert sweep(tmp_path, quota_bytes=0, oldest=None).removed == ()
    assert path.exists()


def test_photos_and_files_of_alarms_are_swept_apart_from_captures_and_pictures(tmp_path):
    names = [media_name(NOW, "jpg"), media_name(NOW, "bin"), "", "device.jpg", ".20260615-x.jpg.ab.part"]
    photo, alarm, capture, image, draft = [kept(tmp_path, "a", 50, 100, name) for name in names]
    swept = file_retention.sweep(MediaStore(tmp_path), MEDIA_NAMES, quota_bytes=1, oldest=None)
    assert set(swept.removed) == {photo.name, alarm.name}
    assert sweep(tmp_path, quota_bytes=1, oldest=None).removed == (capture.name,)
    assert [path.exists() for path in (image, draft)] == [True, True]


async def save(media, unique_id, size, quota):
    """A new file, a second older than the present one: the resolution of the disk's clock is not enough."""
    file = MediaFile("image", "jpg", bytes(size))
    name = await MediaFiles(MediaStore(media), quota).save(unique_id, file, NOW)
    for path in (media / unique_id).iterdir():
        modified = path.stat().st_mtime - 1
        os.utime(path, (modified, modified))
    return name


def names(folder):
    return {path.name for path in folder.iterdir()}


async def test_a_device_that_sends_too_much_loses_its_own_oldest_files(tmp_path):
    quota = DeviceQuota(1000)
    await MediaFiles(MediaStore(tmp_path)).save_image("a", "jpg", bytes(500))
    old = kept(tmp_path, "a", 10**8, 400, media_name(NOW, "jpg"))
    other = await save(tmp_path, "b", 900, quota)
    first = await save(tmp_path, "a", 400, quota)
    assert old.exists()
    second = await save(tmp_path, "a", 400, quota)
    assert names(tmp_path / "a") == {"device.jpg", first, second}
    third = await save(tmp_path, "a", 300, quota)
    assert names(tmp_path / "a") == {"device.jpg", second, third}
    assert names(tmp_path / "b") == {other}


async def test_the_newest_file_stays_however_large_it_is(tmp_path):
    quota = DeviceQuota(100)
    await save(tmp_path, "a", 50, quota)
    large = await save(tmp_path, "a", 500, quota)
    assert names(tmp_path / "a") == {large}


async def test_the_folder_is_searched_once_and_then_counted(tmp_path, monkeypatch):
    searched = []
    search = MediaStore.list
    monkeypatch.setattr(MediaStore, "list", lambda *a: (searched.append(1), search(*a))[1])
    quota = DeviceQuota(10_000)
    for _ in range(20):
        await save(tmp_path, "a", 100, quota)
    assert len(searched) == 2  # for files, and for what was made of them
    monkeypatch.setattr(file_retention, "KNOWN_FOLDERS", 2)
    for number in range(5):
        await save(tmp_path, f"b{number}", 100, quota)
    assert len(quota._known) <= 2


@pytest.mark.parametrize("quota", [None, DeviceQuota(0)])
async def test_without_a_quota_all_stay(tmp_path, quota):
    for _ in range(3):
        await save(tmp_path, "a", 1000, quota)
    assert len(names(tmp_path / "a")) == 3


def test_what_was_made_of_a_file_counts_with_it_and_goes_with_it(tmp_path):
    store = MediaStore(tmp_path)
    old, new = (kept(tmp_path, "a", ago, 100) for ago in (50, 20))
    for file, size in ((old, 40), (new, 60)):
        key = media_key("a", file.name)
        part = store.new_rendition(key, size)
        store.save(part, bytes(size))
        assert store.keep_rendition(part, key, "picture") == size
    assert sweep(tmp_path, quota_bytes=300).removed == ()
    swept = sweep(tmp_path, quota_bytes=299)
    assert (swept.total_bytes, swept.removed) == (160, (old.name,))
    assert {path.name for path in (tmp_path / "a").iterdir()} == {new.name, f".made-picture-{new.name}"}


def test_of_two_servers_that_make_a_rendition_the_first_one_counts(tmp_path):
    store = MediaStore(tmp_path)
    key = media_key("a", kept(tmp_path, "a", 0, 100).name)
    parts = [store.new_rendition(key, 10) for _ in range(2)]
    for number, part in enumerate(parts):
        store.save(part, bytes([number]) * 10)
        store.keep_rendition(part, key, "film")
    with store.open(rendition_key(key, "film")) as made:
        assert made.read(0, 10) == bytes(10)
    # One that is ready after its file was deleted is deleted too.
    late = store.new_rendition(key, 10)
    store.delete(key)
    store.keep_rendition(late, key, "picture")
    store.note_no_rendition(key, "film")
    assert list((tmp_path / "a").iterdir()) == []


def test_a_rendition_that_is_ready_while_its_file_is_deleted_goes_with_it(tmp_path, monkeypatch):
    store = MediaStore(tmp_path)
    key = media_key("a", kept(tmp_path, "a", 0, 100).name)
    late, unlink = store.new_rendition(key, 10), Path.unlink

    def unlink_late(path, **options):
        if path.name == key.name:
            store.keep_rendition(late, key, "film")
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", unlink_late)
    store.delete(key)
    assert list((tmp_path / "a").iterdir()) == []
