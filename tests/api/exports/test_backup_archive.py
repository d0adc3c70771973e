import io
import json
import os
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.api.exports.backup_archive import (
    DUMP,
    ArchiveDamaged,
    ArchiveWriter,
    Manifest,
    VerifiedArchive,
    allowed,
)

WHAT = Manifest(program="1", schema=7, postgres="18.6", made="2026-05-01T12:00:00Z")


def write(path, files, *, manifest=WHAT):
    with path.open("wb") as file:
        archive = ArchiveWriter(file)
        for name, content in files.items():
            with archive.member(name, mode=0o640, modified=1000.7) as member:
                for start in range(0, len(content), 7):
                    member.write(content[start : start + 7])
        archive.finish(manifest)
    return path


LONG = "media/" + "ü" * 120 + "/device.jpg"
FILES = {DUMP: b"PGDMP" * 400, "media/1/a.jpg": b"", LONG: b"x" * 512, "override/a/b.css": b"y" * 513}


@pytest.fixture
def archive(tmp_path):
    return write(tmp_path / "backup.tar", FILES)


def test_what_is_written_is_read_again(archive, tmp_path):
    whole = VerifiedArchive(archive)
    assert whole.manifest.schema == 7
    assert {name: b"".join(whole.chunks(name)) for name in FILES} == FILES
    assert whole.names == [name for name in FILES if name != DUMP]
    whole.extract(LONG, tmp_path / "out")
    place = tmp_path / "out" / LONG
    assert place.read_bytes() == FILES[LONG]
    assert (place.stat().st_mode & 0o777, place.stat().st_mtime) == (0o640, 1000)


def test_any_tar_reads_it(archive):
    with tarfile.open(archive) as tar:
        assert tar.getnames() == [*FILES, "manifest.json"]
        assert tar.extractfile("override/a/b.css").read() == FILES["override/a/b.css"]
        assert json.load(tar.extractfile("manifest.json"))["postgres"] == "18.6"


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_an_archive_that_is_cut_or_changed_anywhere_is_refused_or_unharmed(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(write(folder / "whole.tar", FILES).read_bytes())
    if data.draw(st.booleans()):
        # Two empty blocks say the end; tar readers do without.
        del content[data.draw(st.integers(0, len(content) - 2 * 512 - 1)) :]
    else:
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    damaged = folder / "damaged.tar"
    damaged.write_bytes(content)
    try:
        whole = VerifiedArchive(damaged)
    except ArchiveDamaged:
        return
    # A bit of padding, of a time or an owner: nothing that is restored.
    assert {name: b"".join(whole.chunks(name)) for name in FILES} == FILES


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "media/../../evil",
        "/etc/passwd",
        "media//x",
        "media/./x",
        "media",
        "media/",
        "postgres/x",
        "motorpool.toml",
        "manifest.json",
        "media/a\0b",
        "",
        ".",
        "overrides/x",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_at_both_ends(name, tmp_path):
    assert not allowed(name)
    with pytest.raises(ValueError, match="not a valid name"):
        write(tmp_path / "x.tar", {name: b""})


def foreign(path, *members):
    """An archive of somebody else's making, with a manifest that agrees with it."""
    with tarfile.open(path, "w") as tar:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content))
    return path


def plain(name):
    return tarfile.TarInfo(name)


def link(name, target, kind):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([(plain("../evil"), b"")], "does not belong in a backup"),
        ([(plain("/etc/passwd"), b"")], "does not belong in a backup"),
        ([(link("media/x", "/etc", tarfile.SYMTYPE), b"")], "not a regular file"),
        ([(link("media/x", "database.dump", tarfile.LNKTYPE), b"")], "not a regular file"),
        ([(link("media/x", "", tarfile.DIRTYPE), b"")], "not a regular file"),
        ([(plain("media/x"), b""), (plain("media/x"), b"")], "occurs twice"),
        ([(plain(DUMP), b"x")], "ends before the manifest"),
        ([(plain("manifest.json"), b"{}")], "manifest|required"),
        ([(plain("manifest.json"), b"\xff")], "is not a backup, or is damaged"),
        ([], "ends before the manifest"),
    ],
)
def test_an_archive_of_somebody_elses_making_is_refused(tmp_path, members, why):
    with pytest.raises(ArchiveDamaged, match=why):
        VerifiedArchive(foreign(tmp_path / "x.tar", *members))


def test_another_format_something_behind_the_manifest_and_no_tar_are_refused(archive, tmp_path):
    newer = Manifest(format=3, program="9", schema=7, postgres="18.6", made="")
    with pytest.raises(ArchiveDamaged, match="its format is 3, this release reads 2"):
        VerifiedArchive(write(tmp_path / "newer.tar", FILES, manifest=newer))
    with tarfile.open(archive, "a") as tar:
        tar.addfile(plain("media/more"), io.BytesIO())
    with pytest.raises(ArchiveDamaged, match="something follows"):
        VerifiedArchive(archive)
    (tmp_path / "text").write_text("no tar")
    with pytest.raises(ArchiveDamaged, match="is not a backup, or is damaged"):
        VerifiedArchive(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        VerifiedArchive(tmp_path / "none")


def test_what_changes_between_check_and_use_is_noticed(archive, tmp_path):
    whole = VerifiedArchive(archive)
    content = archive.read_bytes()
    archive.write_bytes(content.replace(b"y" * 513, b"z" * 513))
    with pytest.raises(ArchiveDamaged, match="changed while it was read"):
        whole.extract("override/a/b.css", tmp_path / "out")


def test_nothing_is_written_through_a_link(archive, tmp_path):
    whole = VerifiedArchive(archive)
    (tmp_path / "out" / "media" / "1").mkdir(parents=True)
    os.symlink(tmp_path / "victim", tmp_path / "out" / "media" / "1" / "a.jpg")
    with pytest.raises(FileExistsError):
        whole.extract("media/1/a.jpg", tmp_path / "out")
    assert not (tmp_path / "victim").exists()
