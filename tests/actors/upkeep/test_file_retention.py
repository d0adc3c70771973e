"""Photos and files of alarms past their quota or age, and what crashes leave."""

import os

from motorpool.actors.files.media_files import MediaFiles, media_name
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.files.settings import FileSettings
from motorpool.actors.messages.counters import FILE_BYTES, FILES_REMOVED
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FileRetention
from motorpool.runtime import ChildSpec

DAY = 86_400.0


def file_retention_spec(database, files, quota_bytes, days):
    settings = FileSettings(quota_bytes=quota_bytes, retention_days=days)
    return ChildSpec(kind=FILE_RETENTION, factory=lambda: FileRetention(database, files, lambda: settings))


def kept(media, device, name, ago, size, clock):
    path = media / device / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    at = clock.now().timestamp() - ago
    os.utime(path, (at, at))
    return path


async def test_past_quota_or_age_the_oldest_of_all_devices_go(database, tree, time, clock, tmp_path):
    old, older, young = [
        kept(tmp_path, device, media_name(clock.now(), "jpg"), ago, 400, clock)
        for device, ago in (("a", DAY / 2), ("b", DAY), ("a", 60))
    ]
    capture = kept(tmp_path, "a", "capture-20260615-x.mp4", 9 * DAY, 5000, clock)
    removed = FILES_REMOVED.labels("media")._value.get()
    async with tree(file_retention_spec(database, MediaFiles(MediaStore(tmp_path)), 1000, 0)):
        await time.passes(1)
        assert [path.exists() for path in (old, older, young, capture)] == [True, False, True, True]
        assert FILE_BYTES.labels("media")._value.get() == 800
    async with tree(file_retention_spec(database, MediaFiles(MediaStore(tmp_path)), 0, 1)):
        await time.passes(1)
        assert old.exists()
        os.utime(old, (clock.now().timestamp() - DAY - 1,) * 2)
        await time.passes(301)
        assert [path.exists() for path in (old, young, capture)] == [False, True, True]
    assert FILES_REMOVED.labels("media")._value.get() == removed + 2


async def test_without_quota_and_age_only_what_a_crash_left_goes(database, tree, time, clock, tmp_path):
    photo = kept(tmp_path, "a", media_name(clock.now(), "jpg"), 9999 * DAY, 400, clock)
    stale = kept(tmp_path, "a", ".20260615-x.jpg.ab12.part", 3700, 9, clock)
    fresh = kept(tmp_path, "a", ".20260615-y.jpg.ab12.part", 60, 9, clock)
    async with tree(file_retention_spec(database, MediaFiles(MediaStore(tmp_path)), 0, 0)):
        await time.passes(1)
    assert [path.exists() for path in (photo, stale, fresh)] == [True, False, True]
