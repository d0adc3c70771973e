"""Files in pieces, onto the disk."""

import errno
import os
from datetime import UTC, datetime

import pytest

from motorpool.actors.files.file_locks import create_locked
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.files.uploads import MAX_FILES, Upload, UploadStorage
from motorpool.codecs.reports import FileChunk, FileUploadCompleted, FileUploadStarted

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
async def upload(tmp_path):
    opened = Upload(UploadStorage(MediaFiles(MediaStore(tmp_path)), file_bytes=1000), "van/7")
    yield opened
    opened.discard()


def files(tmp_path):
    return [path for path in tmp_path.rglob("*") if path.is_file()]


async def test_pieces_in_any_order_become_a_file_with_a_name_of_ours(upload, tmp_path):
    assert await upload.begin(FileUploadStarted("../../evil.jpg", 9)) == ""
    for offset, content in ((6, b"ghi"), (0, b"abc"), (3, b"def"), (0, b"abc")):
        await upload.write(FileChunk("../../evil.jpg", offset, content))
    name = await upload.keep(FileUploadCompleted("../../evil.jpg", "image", "jpg", 9), NOON)
    assert name.startswith("20260305120000-")
    assert name.endswith(".jpg")
    assert files(tmp_path) == [tmp_path / "van%2F7" / name]
    assert files(tmp_path)[0].read_bytes() == b"abcdefghi"


async def test_until_it_is_whole_a_file_has_a_name_that_is_never_served(upload, tmp_path):
    await upload.begin(FileUploadStarted("a", 9))
    (part,) = files(tmp_path)
    assert part.name.startswith(".")
    await upload.begin(FileUploadStarted("a", 9))
    assert files(tmp_path) == [part]
    await upload.begin(FileUploadStarted("a", 8))
    (other,) = files(tmp_path)
    assert other != part


async def test_what_does_not_become_whole_is_removed(upload, tmp_path):
    for name in "ab":
        await upload.begin(FileUploadStarted(name, 9))
        await upload.write(FileChunk(name, 0, b"abc"))
    upload.discard()
    assert files(tmp_path) == []
    assert await upload.keep(FileUploadCompleted("a", "image", "jpg", 9), NOON) == ""


async def test_a_file_that_is_too_large_is_refused_and_its_pieces_are_passed_over(upload, tmp_path):
    assert "1001 bytes" in await upload.begin(FileUploadStarted("a", 1001))
    await upload.write(FileChunk("a", 0, b"abc"))
    assert files(tmp_path) == []
    assert await upload.begin(FileUploadStarted("b", 1000)) == ""


async def test_an_alarm_has_no_endless_number_of_files(upload, tmp_path):
    for number in range(MAX_FILES):
        assert await upload.begin(FileUploadStarted(str(number), 0)) == ""
        await upload.keep(FileUploadCompleted(str(number), "image", "jpg", 0), NOON)
    assert str(MAX_FILES) in await upload.begin(FileUploadStarted("one more", 0))
    assert len(files(tmp_path)) == MAX_FILES


async def test_a_full_disk_gives_up_the_file_and_leaves_nothing_of_it(upload, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    await upload.begin(FileUploadStarted("a", 9))
    await upload.begin(FileUploadStarted("b", 9))
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(OSError, match="No space left"):
            await upload.write(FileChunk("a", 0, b"abc"))
    await upload.write(FileChunk("a", 0, b"abc"))
    assert len(files(tmp_path)) == 1
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            await upload.keep(FileUploadCompleted("b", "image", "jpg", 9), NOON)
    assert files(tmp_path) == []


async def test_the_reserve_of_the_disk_is_left_alone(tmp_path):
    state = os.statvfs(tmp_path)
    store = MediaStore(tmp_path, reserve_bytes=state.f_bavail * state.f_frsize + (1 << 40))
    room = UploadStorage(MediaFiles(store), 1000)
    with pytest.raises(OSError, match="would be free"):
        await Upload(room, "1").begin(FileUploadStarted("a", 9))
    assert files(tmp_path) == []


async def test_what_a_crash_left_is_removed_and_what_is_being_written_stays(upload, tmp_path):
    await upload.begin(FileUploadStarted("a", 9))
    (current,) = files(tmp_path)
    (tmp_path / "van%2F7" / ".upload-0earlier-0123.part").write_bytes(b"x")
    photo = tmp_path / "van%2F7" / "20260101000000-photo.jpg"
    photo.write_bytes(b"x")
    # Of another server, which shares the folder.
    with create_locked(tmp_path / "van%2F7" / ".upload-0123.part"):
        assert MediaStore(tmp_path).remove_drafts(0) == 1
    assert MediaStore(tmp_path).remove_drafts(0) == 1
    assert MediaStore(tmp_path / "nothing").remove_drafts(0) == 0
    assert sorted(files(tmp_path)) == sorted([current, photo])
