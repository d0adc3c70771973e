import hashlib
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest
from tests.api.cases import on_one_server

from motorpool.actors.files.file_retention import MEDIA_NAMES
from motorpool.actors.files.media_files import media_name, newest_picture
from motorpool.actors.files.media_store import folder_name
from motorpool.codecs.reports import MediaFile

JPEG = b"\xff\xd8\xff\xe0picture"
PNG = b"\x89PNG\r\n\x1a\npicture"
PICTURES = {
    "image/jpeg": ("device.jpg", JPEG),
    "image/png": ("device.png", PNG),
    "image/gif": ("device.gif", b"GIF89a picture"),
    "image/webp": ("device.webp", b"RIFF\x10\x00\x00\x00WEBPVP8 "),
}


async def post(caller, number, content, kind="image/jpeg"):
    return await caller.post(f"/devices/{number}/image", data=content, headers={"Content-Type": kind})


@pytest.fixture
async def van(served):
    return await served.device(served.admin, "van 1")


@pytest.mark.parametrize("kind", list(PICTURES))
async def test_a_picture_is_kept_named_and_served(served, van, kind):
    name, content = PICTURES[kind]
    kept = await post(served.admin, van, content, kind)
    assert (kept.status, kept.text) == (200, name)
    assert kept.headers["Content-Type"].startswith("text/plain")
    shown = await served.admin.get(f"/media/van%201/{name}")
    assert (shown.status, shown.body, shown.headers["Content-Type"]) == (200, content, kind)
    assert "Content-Disposition" not in shown.headers
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.headers["Cache-Control"] == "private, no-cache"
    assert (await served.admin.get(f"/media/van%201/{name}", headers={"Range": "bytes=0-1"})).body == content[
        :2
    ]
    again = await served.admin.get(f"/media/van%201/{name}", headers={"If-None-Match": shown.headers["ETag"]})
    assert again.status == 304
    behind = await served.admin.get(f"/media/van%201/{name}", headers={"Range": "bytes=99999-"})
    assert behind.status == 416


async def test_a_new_picture_takes_the_place_of_the_old_one_whatever_its_kind(served, van, tmp_path):
    await post(served.admin, van, JPEG)
    await post(served.admin, van, PNG, "image/png")
    await post(served.admin, van, PNG + b"2", "image/png")
    assert [path.name for path in (tmp_path / "media" / "van 1").iterdir()] == ["device.png"]
    assert (await served.admin.get("/media/van%201/device.jpg")).status == 404
    assert (await served.admin.get("/media/van%201/device.png")).body == PNG + b"2"


@on_one_server(
    ("content", "kind"),
    [
        (JPEG, "text/html"),
        (JPEG, "image/svg+xml"),
        (JPEG, "image/png"),
        (b"<script>", "image/jpeg"),
        (b"", "image/jpeg"),
        (b"RIFF\x10\x00\x00\x00WAVE", "image/webp"),
        (JPEG + bytes(500_001 - len(JPEG)), "image/jpeg"),
    ],
)
async def test_what_is_no_picture_or_too_large_is_400(served, van, tmp_path, content, kind):
    assert (await post(served.admin, van, content, kind)).status == 400
    assert not (tmp_path / "media").exists()


async def test_the_largest_picture_is_taken_with_any_spelling_of_its_kind(served, van):
    largest = JPEG + bytes(500_000 - len(JPEG))
    assert (await post(served.admin, van, largest, "IMAGE/JPEG; x=y")).status == 200


async def test_a_picture_is_set_by_who_may_change_devices_and_sees_this_one(served, van):
    ann = await served.user("ann")
    reader = await served.user("reader", deviceReadonly=True)
    assert (await post(ann, van, JPEG)).status == 404
    assert (await post(served.admin, 4711, JPEG)).status == 404
    assert (await post(served.client(), van, JPEG)).status == 401
    for each in (ann, reader):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": van})
    assert (await post(reader, van, JPEG)).status == 400
    assert (await post(ann, van, JPEG)).status == 200
    audit = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    assert (audit[-1]["actionType"], audit[-1]["objectType"], audit[-1]["objectId"]) == (
        "upload",
        "device",
        van,
    )


async def test_files_are_for_who_may_see_the_device(served, van, tmp_path):
    ann = await served.user("ann")
    name = await served.context.files.save("van 1", MediaFile("video", "mp4", b"film"), served.clock.now())
    path = f"/media/van%201/{name}"
    assert (await served.client().get(path)).status == 401
    assert (await ann.get(path)).status == 404
    assert (await served.admin.get(path)).headers["Content-Type"] == "video/mp4"
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van})
    assert (await ann.get(path)).body == b"film"


async def test_what_a_browser_could_run_is_only_to_be_saved(served, van, tmp_path):
    home = tmp_path / "media" / "van 1"
    home.mkdir(parents=True)
    for name in ("a.html", "a.xhtml", "a.svg", "a.js", "a.mjs", "a.wasm", "a.txt", "a.pdf", "a.bin", "a"):
        (home / name).write_bytes(b"<script>")
        answer = await served.admin.get(f"/media/van%201/{name}")
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"] == "attachment"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


async def test_nothing_but_whole_files_of_the_device_is_found(served, van, tmp_path):
    home = tmp_path / "media" / "van 1"
    (home / "folder").mkdir(parents=True)
    (home / ".device.jpg.part").write_bytes(b"half")
    (home / "link.jpg").symlink_to("/etc/passwd")
    (tmp_path / "media" / "other").mkdir()
    (tmp_path / "media" / "other" / "x.jpg").write_bytes(b"theirs")
    for path in [
        "van%201/none.jpg",
        "van%201/folder",
        "van%201/.device.jpg.part",
        "van%201/link.jpg",
        "van%201/..%2fother%2fx.jpg",
        "van%201/%2e%2e",
        "van%201/x%00.jpg",
        "van%201/",
        "van%201",
        "other/x.jpg",
        "..%2fmedia%2fother/x.jpg",
        "%00/x.jpg",
        "./x.jpg",
    ]:
        assert (await served.admin.get(f"/media/{path}")).status == 404, path


async def test_an_identity_that_looks_like_a_path_has_its_own_folder(served, tmp_path):
    number = await served.device(served.admin, "..")
    assert (await post(served.admin, number, JPEG)).text == "device.jpg"
    assert (tmp_path / "media" / folder_name("..") / "device.jpg").read_bytes() == JPEG


async def test_a_disk_that_takes_no_more_is_503(served, van, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    answer = await post(served.admin, van, JPEG)
    assert (answer.status, answer.text) == (503, "the picture cannot be kept: No space left on device")


async def test_a_picture_survives_a_power_failure_before_the_answer(served, van, disk_log):
    await post(served.admin, van, JPEG)
    assert disk_log[-3:] == ["sync .part", "rename device.jpg", "sync van 1"]


async def test_files_go_with_their_device(served, van, tmp_path):
    await post(served.admin, van, JPEG)
    device = (await served.admin.get(f"/devices/{van}")).json()
    renamed = await served.admin.put(f"/devices/{van}", json={**device, "uniqueId": "van 2"})
    assert renamed.status == 200
    assert (await served.admin.get("/media/van%202/device.jpg")).body == JPEG
    other = await served.device(served.admin, "van 1")
    assert (await served.admin.get("/media/van%201/device.jpg")).status == 404
    await post(served.admin, other, PNG, "image/png")
    assert (await served.admin.delete(f"/devices/{van}")).status == 204
    assert [path.name for path in (tmp_path / "media").iterdir()] == ["van 1"]
    await served.device(served.admin, "van 2")
    assert (await served.admin.get("/media/van%202/device.jpg")).status == 404


async def test_a_still_is_a_file_of_its_device_that_a_ticket_can_keep(served, van):
    kept = await served.admin.post(
        f"/devices/{van}/stills", data=JPEG, headers={"Content-Type": "image/jpeg"}
    )
    assert kept.status == 200
    still = kept.json()
    assert (still["size"], still["sha256"]) == (len(JPEG), hashlib.sha256(JPEG).hexdigest())
    assert fnmatchcase(still["fileName"], MEDIA_NAMES)
    shown = await served.admin.get(still["url"].removeprefix("/api"))
    assert (shown.status, shown.body, shown.headers["Content-Type"]) == (200, JPEG, "image/jpeg")
    another = await served.admin.post(
        f"/devices/{van}/stills", data=PNG, headers={"Content-Type": "image/png"}
    )
    assert another.json()["fileName"] != still["fileName"]


async def test_a_still_is_not_taken_for_a_picture_that_the_device_sent(served, van, tmp_path):
    kept = await served.admin.post(
        f"/devices/{van}/stills", data=JPEG, headers={"Content-Type": "image/jpeg"}
    )
    folder = tmp_path / "media" / "van 1"
    assert [path.name for path in folder.iterdir()] == [kept.json()["fileName"]]
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    assert newest_picture(served.context.files.store, "van 1", long_ago) is None
    (folder / media_name(datetime(2020, 1, 1, tzinfo=UTC), "jpg")).write_bytes(JPEG)
    assert newest_picture(served.context.files.store, "van 1", long_ago)[1].year == 2020


@on_one_server(
    ("content", "kind"),
    [(b"GIF89a", "image/gif"), (PNG, "image/jpeg"), (JPEG + bytes(1_000_001 - len(JPEG)), "image/jpeg")],
)
async def test_what_is_no_still_or_too_large_is_400(served, van, tmp_path, content, kind):
    answer = await served.admin.post(f"/devices/{van}/stills", data=content, headers={"Content-Type": kind})
    assert answer.status == 400
    assert not (tmp_path / "media").exists()
