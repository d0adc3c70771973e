"""Files that an administrator puts in front of the console's."""

import os
import tempfile
from pathlib import Path

import pytest
import trio
from tests.api.cases import on_one_server

from motorpool.api.resources.files import check_path
from motorpool.api.settings import HttpSettings

STREAM = {"Content-Type": "application/octet-stream"}


async def put(served, path, content=b"x", **headers):
    return await served.admin.post(f"/server/file/{path}", data=content, headers={**STREAM, **headers})


def files(folder):
    """All files but those by which the server holds its folders."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(str(path.relative_to(folder)) for path in found)


async def test_what_a_crash_left_goes_with_the_next_upload(served, tmp_path):
    stale, fresh = (tmp_path / "uploads" / name for name in ("aa.part", "bb.part"))
    stale.parent.mkdir()
    for path in (stale, fresh):
        path.write_bytes(b"half")
    os.utime(stale, (0, 0))
    assert (await put(served, "x.css")).status == 200
    assert files(tmp_path) == ["override/x.css", "uploads/bb.part"]


async def test_a_file_survives_a_power_failure_before_the_answer(served, tmp_path, disk_log):
    assert (await put(served, "a/x.css")).status == 200
    assert disk_log == [
        "sync .part",
        f"sync {tmp_path.name}",
        "sync override",
        "rename x.css",
        "sync a",
        "sync uploads",
    ]


@pytest.fixture
def shared(tmp_path):
    """A folder of another file system that a server serves files from."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as name:
        folder = Path(name)
        if folder.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("temporary files are on the file system of the sources")
        (tmp_path / "override").symlink_to(folder)
        yield folder


async def test_the_folder_may_be_shared_and_so_of_another_file_system(served, shared, tmp_path):
    for content in (b"a{}", b"b{}"):
        assert (await put(served, "deep/x.css", content)).status == 200
        assert (await served.client().call("GET", "/deep/x.css")).body == content
    assert (await put(served, "deep")).status == 400
    assert files(shared) == ["deep/x.css"]
    assert files(tmp_path / "uploads") == []


async def test_a_file_is_kept_and_served_at_its_path(served, tmp_path):
    kept = await put(served, "logo.svg", b"<svg/>", **{"Content-Type": "image/svg+xml"})
    assert (kept.status, kept.text) == (200, "")
    assert (await put(served, "deep/er/x.css", b"a{}")).status == 200
    anybody = served.client()
    logo = await anybody.call("GET", "/logo.svg")
    assert (logo.status, logo.body) == (200, b"<svg/>")
    assert logo.headers["Content-Type"] == "image/svg+xml"
    assert "script-src 'self'" in logo.headers["Content-Security-Policy"]
    assert logo.headers["X-Content-Type-Options"] == "nosniff"
    assert logo.headers["Cache-Control"] == "no-cache"
    style = await anybody.call("GET", "/deep/er/x.css")
    assert (style.text, style.headers["Content-Type"]) == ("a{}", "text/css; charset=utf-8")
    same = await anybody.call("GET", "/logo.svg", headers={"If-None-Match": logo.headers["ETag"]})
    assert same.status == 304
    assert files(tmp_path) == ["override/deep/er/x.css", "override/logo.svg"]
    audit = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    assert (audit[-1]["actionType"], audit[-1]["attributes"]) == ("upload", {"path": "deep/er/x.css"})


async def test_it_takes_the_place_of_an_older_one_and_of_the_consoles_own(served):
    own = await served.client().call("GET", "/")
    assert own.status == 200
    assert own.body != b"<p>mine</p>"
    for content in (b"first", b"second"):
        assert (await put(served, "console/console.css", content)).status == 200
        shown = await served.client().call("GET", "/console/console.css")
        assert shown.body == content
    await put(served, "index.html", b"<p>mine</p>")
    page = await served.client().call("GET", "/")
    assert (page.body, page.headers["Content-Type"]) == (b"<p>mine</p>", "text/html; charset=utf-8")
    inside = await served.client().call("GET", "/settings/users", headers={"Accept": "text/html"})
    assert inside.body == b"<p>mine</p>"


async def test_a_place_inside_the_console_opens_the_console_and_a_missing_file_does_not(served):
    client = served.client()
    page = await client.call("GET", "/some/where", headers={"Accept": "text/html,*/*"})
    assert page.status == 200
    assert "<title>Motorpool</title>" in page.text
    assert (await client.call("GET", "/some/where")).status == 404
    assert (await client.call("GET", "/missing.js", headers={"Accept": "text/html"})).status == 404
    for path in ("/api/nothing", "/api", "/api/"):
        assert (await client.call("GET", path, headers={"Accept": "text/html"})).status == 404
    assert (await served.admin.call("GET", "/api/server/reboot")).status == 405


async def test_the_api_is_never_shadowed(served, tmp_path):
    assert (await put(served, "api/health")).status == 400
    assert (await put(served, "API/health")).status == 400
    planted = tmp_path / "override" / "api"
    planted.mkdir(parents=True)
    (planted / "health").write_text("planted")
    (planted / "other").write_text("planted")
    client = served.client()
    assert (await client.get("/health")).text == "OK"
    assert (await client.get("/other")).status == 404
    (tmp_path / "override" / "metrics").write_text("planted")
    assert "planted" not in (await client.call("GET", "/metrics")).text


async def test_only_administrators_put_files(served, tmp_path):
    ann = await served.user("ann")
    manager = await served.user("manager", userLimit=-1)
    for caller in (ann, manager):
        assert (await caller.post("/server/file/x", data=b"x")).status == 400
    assert (await served.client().post("/server/file/x", data=b"x")).status == 401
    assert files(tmp_path) == []


@on_one_server(
    "path",
    [
        "../evil",
        "a/../../evil",
        "..",
        "%2e%2e/evil",
        "%2e%2e%2fevil",
        "a%2f..%2f..%2fevil",
        "/etc/evil",
        "%2fetc%2fevil",
        "a//b",
        "a/./b",
        "a\\b",
        "%5c..%5cevil",
        "a%00b",
        "a%0ab",
        "a/",
        "x" * 201,
        "/".join(["abcdefgh"] * 130),
    ],
)
async def test_a_path_that_leads_elsewhere_is_400(served, tmp_path, path):
    answer = await put(served, path)
    # No route takes an address that begins with a slash or holds a line break.
    unrouted = path.startswith(("/", "%2f")) or "%0a" in path
    assert answer.status in ({400, 404, 405} if unrouted else {400}), answer.text
    assert "\n" not in answer.text
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "path", ["a", "a.b/c-d_e.f", ".well-known/assetlinks.json", "größe/字.png", "apis/x", "..a"]
)
def test_a_plain_path_is_taken_as_it_is(path):
    assert check_path(path) == path


async def test_nothing_is_written_through_a_link(served, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "override"
    root.mkdir()
    (root / "out").symlink_to(outside)
    (root / "file").symlink_to(outside / "victim")
    (outside / "victim").write_text("whole")
    assert (await put(served, "out/x")).status == 400
    assert (await served.client().call("GET", "/out/victim")).status == 404
    assert (await put(served, "file", b"mine")).status == 200
    assert (outside / "victim").read_text() == "whole"
    assert (root / "file").read_bytes() == b"mine"
    assert files(outside) == ["victim"]


async def test_a_folder_and_a_file_do_not_take_each_others_place(served):
    assert (await put(served, "a/b")).status == 200
    assert (await put(served, "a")).status == 400
    assert (await put(served, "a/b/c")).status == 400
    assert (await served.client().call("GET", "/a/b")).body == b"x"


async def test_a_body_past_the_limit_is_413_and_leaves_nothing(starting, tmp_path):
    async with starting(http=HttpSettings(body_bytes=4096)) as served:
        assert (await put(served, "big", bytes(4097))).status == 413

        # Without a length told in advance.
        async with served.admin.quart.request(
            "/api/server/file/big", method="POST", headers=STREAM
        ) as connection:
            for _ in range(5):
                await connection.send(bytes(1000))
            await connection.send_complete()
            answer = await connection.as_response()
        assert answer.status_code == 413
        assert files(tmp_path) == []
        assert (await put(served, "fits", bytes(4096))).status == 200


async def test_a_client_that_goes_away_leaves_nothing(starting, tmp_path):
    async with starting(listen=True) as served:
        uploads = tmp_path / "uploads"
        stream = await trio.open_tcp_stream("127.0.0.1", served.port)
        await stream.send_all(
            b"POST /api/server/file/half HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
            b"Cookie: JSESSIONID=" + served.cookie(served.admin).encode() + b"\r\n\r\nhalf"
        )
        await until(lambda: uploads.exists() and any(uploads.iterdir()))
        await stream.aclose()
        await until(lambda: not any(uploads.iterdir()))
        assert files(tmp_path) == []


async def until(holds):
    """Wait for what happens on disk, of which nobody tells us."""
    with trio.fail_after(120):
        while not holds():  # noqa: ASYNC110 - a folder has no Event
            await trio.sleep(0.001)


async def test_a_disk_that_takes_no_more_is_503_and_the_older_file_stays(served, tmp_path, monkeypatch):
    await put(served, "x", b"old")

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("motorpool.api.resources.files.os.fsync", full)
    answer = await put(served, "x", b"new")
    assert (answer.status, answer.text) == (503, "the file cannot be kept: No space left on device")
    assert files(tmp_path) == ["override/x"]
    assert (await served.client().call("GET", "/x")).body == b"old"
