import os
from email.utils import formatdate
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quart_trio import QuartTrio

from motorpool.actors.files.media_store import open_below
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.file_responses import CHUNK_BYTES, media_type, send_file

CONTENT = bytes(range(256)) * 4
LONG = os.urandom(CHUNK_BYTES * 2 + 77)
MODIFIED = 1_700_000_000.25


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (MODIFIED, MODIFIED))


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "root" / "a.bin", CONTENT)
    write(tmp_path / "root" / "long.bin", LONG)
    write(tmp_path / "root" / "empty.bin", b"")
    write(tmp_path / "secret", b"secret")
    return tmp_path / "root"


def open_file(root, name):
    for call in BEFORE_OPEN[:1]:
        del BEFORE_OPEN[0]
        call()
    return open_below(root, name)


BEFORE_OPEN = []
"""Each is called before a file is opened, one at a time."""


@pytest.fixture
def client(root):
    from quart import request

    app = QuartTrio(__name__, static_folder=None)
    app.url_map.merge_slashes = False

    @app.get("/<path:name>")
    async def file(name):
        try:
            return await send_file(request, partial(open_file, root, name), name, {"X-Own": "1"})
        except FileNotFoundError:
            raise ResourceNotFound("none") from None

    @app.errorhandler(ResourceNotFound)
    async def missing(error):
        return "", 404

    return app.test_client()


async def get(client, path, **headers):
    answer = await client.get(
        path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    return answer.status_code, answer.headers, await answer.get_data(as_text=False)


@pytest.mark.parametrize(("name", "content"), [("a.bin", CONTENT), ("long.bin", LONG), ("empty.bin", b"")])
async def test_a_file_goes_out_whole_with_all_that_a_cache_needs(client, name, content):
    status, headers, body = await get(client, f"/{name}")
    assert (status, body) == (200, content)
    assert headers["Content-Length"] == str(len(content))
    assert headers["Last-Modified"] == formatdate(MODIFIED, usegmt=True)
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["X-Own"] == "1"
    again, headers, body = await get(client, f"/{name}", If_None_Match=f'"x", W/{headers["ETag"]}')
    assert (again, body) == (304, b"")
    assert (await get(client, f"/{name}", If_Modified_Since=formatdate(MODIFIED, usegmt=True)))[0] == 304
    assert (await get(client, f"/{name}", If_Modified_Since=formatdate(MODIFIED - 1)))[0] == 200
    assert (await get(client, f"/{name}", If_Modified_Since="yesterday"))[0] == 200
    assert (await get(client, f"/{name}", If_None_Match='"x"', If_Modified_Since=formatdate(MODIFIED)))[
        0
    ] == 200


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1000-", 1000, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=-99999", 0, 1024),
        ("bytes=1000-99999", 1000, 1024),
        ("bytes = 0 - 0", 0, 1),
    ],
)
async def test_a_range_is_sent_alone(client, asked, start, end):
    status, headers, body = await get(client, "/a.bin", Range=asked)
    assert (status, body) == (206, CONTENT[start:end])
    assert headers["Content-Range"] == f"bytes {start}-{end - 1}/1024"
    assert headers["Content-Length"] == str(end - start)


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=5000-6000", "bytes=-0"])
async def test_a_range_behind_the_end_is_416(client, asked):
    status, headers, body = await get(client, "/a.bin", Range=asked)
    assert (status, body) == (416, b"")
    assert headers["Content-Range"] == "bytes */1024"


@pytest.mark.parametrize(
    "asked",
    ["bytes=5-4", "bytes=-", "bytes=a-b", "items=0-1", "bytes=0-1,4-5", "bytes=" + "9" * 40 + "-", ""],
)
async def test_what_is_no_single_range_is_answered_whole(client, asked):
    status, _, body = await get(client, "/a.bin", Range=asked)
    assert (status, body) == (200, CONTENT)


async def test_a_range_of_another_version_is_answered_whole(client):
    tag = (await get(client, "/a.bin"))[1]["ETag"]
    for condition, status in [
        (tag, 206),
        ('"other"', 200),
        (formatdate(MODIFIED, usegmt=True), 206),
        (formatdate(MODIFIED - 5, usegmt=True), 200),
    ]:
        assert (await get(client, "/a.bin", Range="bytes=0-1", If_Range=condition))[0] == status


async def test_a_long_file_is_sent_in_ranges_too(client):
    status, _, body = await get(client, "/long.bin", Range=f"bytes={CHUNK_BYTES - 5}-{CHUNK_BYTES + 5}")
    assert (status, body) == (206, LONG[CHUNK_BYTES - 5 : CHUNK_BYTES + 6])


async def test_a_file_that_was_replaced_ends_the_answer_that_has_begun(client, root):
    def replace():
        write(root / "new", LONG[::-1])
        (root / "new").replace(root / "long.bin")

    # When it is looked at, and when it is sent.
    BEFORE_OPEN.extend((lambda: None, replace))
    # The head is out already: an answer that breaks off is better than a mixture.
    with pytest.raises(ExceptionGroup) as broken:
        await client.get("/long.bin")
    assert broken.group_contains(OSError, match="was replaced while it was sent")
    assert not BEFORE_OPEN


async def test_nothing_outside_the_folder_is_found(client, root):
    (root / "out").symlink_to(root.parent)
    (root / "link").symlink_to(root.parent / "secret")
    (root / "inside").symlink_to(root / "a.bin")
    os.mkfifo(root / "pipe")
    for name in [
        "link",
        "out/secret",
        "../secret",
        "%2e%2e/secret",
        "..%2fsecret",
        "pipe",
        "none",
        ".",
        "x%00y",
    ]:
        assert (await get(client, f"/{name}"))[0] == 404, name
    assert (await get(client, "/inside"))[2] == CONTENT


@settings(max_examples=200)
@given(text=st.text(max_size=12))
def test_any_name_has_a_type(text):
    assert "/" in media_type(text)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.JPG", "image/jpeg"),
        ("a.webp", "image/webp"),
        ("a.html", "text/html; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("manifest.webmanifest", "application/manifest+json"),
        ("a.mp4", "video/mp4"),
        ("a.woff2", "font/woff2"),
        ("a", "application/octet-stream"),
        ("a.exe7", "application/octet-stream"),
    ],
)
def test_types_come_from_endings(name, expected):
    assert media_type(name) == expected


async def test_a_long_file_ends_with_the_right_to_it(root):
    asked = []

    async def confirm():
        asked.append(len(asked))
        if len(asked) > 1:
            raise ResourceNotFound("no such device")

    app = QuartTrio(__name__, static_folder=None)
    async with app.test_request_context("/long.bin"):
        from quart import request

        response = await send_file(
            request, partial(open_file, root, "long.bin"), "long.bin", {}, confirm=confirm
        )
        pieces = aiter(response.response)
        sent = await anext(pieces)
        with pytest.raises(PermissionError):
            await anext(pieces)
    assert sent == LONG[:CHUNK_BYTES]
    assert len(asked) == 2
