"""Answers with files: media types, conditional requests and ranges.

A file may be replaced at any moment, but only as a whole. An answer that is still being sent then ends early,
so that no client gets a mixture of two files.
"""

import mimetypes
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from pathlib import PurePosixPath

import trio
from quart import Request, Response

from motorpool.actors.files.media_store import StoredFile
from motorpool.api.http.errors import HttpError

CHUNK_BYTES = 256 * 1024
"""Files up to this size are sent as one chunk (docs/performance.md#http)."""

Confirm = Callable[[], Awaitable[None]]
OpenFile = Callable[[], StoredFile]
"""Opens the file; blocks. Raises FileNotFoundError."""

_TYPES = mimetypes.MimeTypes()
"""Python's own table, without the types of the operating system."""
for _ending, _type in {
    ".avif": "image/avif",
    ".gz": "application/gzip",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".map": "application/json",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}.items():
    _TYPES.add_type(_type, _ending)
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def media_type(name: str) -> str:
    """Return the media type of a file by its suffix."""
    found = _TYPES.types_map[True].get(PurePosixPath(name).suffix.lower(), "application/octet-stream")
    return f"{found}; charset=utf-8" if found.startswith("text/") else found


@dataclass(frozen=True)
class FileVersion:
    """A file as it was when it was requested."""

    open_file: OpenFile
    size: int
    modified: float
    etag: str
    content: bytes | None
    """The content of a short file."""


async def send_file(
    request: Request,
    open_file: OpenFile,
    name: str,
    headers: Mapping[str, str],
    content_type: str | None = None,
    confirm: Confirm | None = None,
) -> Response:
    """Build the answer for a file, which `open_file` opens in a thread.

    Without `content_type` the suffix of the name determines it. `confirm` is called before each piece of a
    long file; the answer ends where it raises HttpError.

    Conditional requests and ranges are answered with 304, 206 or 416.

    Raises:
        FileNotFoundError: of `open_file`.
    """
    found = await trio.to_thread.run_sync(_look_at, open_file)
    all_headers = {
        **headers,
        "ETag": found.etag,
        "Last-Modified": formatdate(found.modified, usegmt=True),
        "Accept-Ranges": "bytes",
    }
    if _is_not_modified(request, found):
        return Response(b"", 304, headers=all_headers)
    start, end, status = 0, found.size, 200
    requested_range = _range(request, found)
    if requested_range is not None:
        start, end = requested_range
        if start >= end:
            return Response(b"", 416, headers={**all_headers, "Content-Range": f"bytes */{found.size}"})
        status = 206
        all_headers["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    kind = content_type or media_type(name)
    if request.method == "HEAD":
        response = Response(b"", status, headers=all_headers, content_type=kind)
    elif found.content is not None:
        response = Response(found.content[start:end], status, headers=all_headers, content_type=kind)
    else:
        response = Response(
            _chunks(found, start, end, confirm), status, headers=all_headers, content_type=kind
        )
    response.headers["Content-Length"] = str(end - start)
    return response


def _look_at(open_file: OpenFile) -> FileVersion:
    with open_file() as file:
        content = file.read(0, CHUNK_BYTES + 1)
        short = len(content) <= CHUNK_BYTES
        size = len(content) if short else file.size
        return FileVersion(open_file, size, file.modified, f'"{file.tag}"', content if short else None)


def _is_not_modified(request: Request, found: FileVersion) -> bool:
    tags = request.headers.get("If-None-Match")
    if tags is not None:
        return tags.strip() == "*" or found.etag in (
            tag.strip().removeprefix("W/") for tag in tags.split(",")
        )
    since = _parse_http_date(request.headers.get("If-Modified-Since"))
    return since is not None and int(found.modified) <= since


def _parse_http_date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _range(request: Request, found: FileVersion) -> tuple[int, int] | None:
    """Return the range as start and end; None for the whole file. It is empty if it lies past the end."""
    if_range = request.headers.get("If-Range")
    if if_range is not None and if_range != found.etag and _parse_http_date(if_range) != int(found.modified):
        return None
    # Several ranges in one request are ignored, as RFC 9110, section 14.2, allows.
    matched = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if matched is None or matched[0] == "bytes=-":
        return None
    first, last = matched.groups()
    if not first:
        return max(0, found.size - int(last)), found.size
    start = int(first)
    end = min(int(last) + 1, found.size) if last else found.size
    if last and int(last) < start:
        return None
    return start, end


async def _chunks(found: FileVersion, start: int, end: int, confirm: Confirm | None) -> AsyncIterator[bytes]:
    with await trio.to_thread.run_sync(found.open_file) as file:
        if f'"{file.tag}"' != found.etag:
            raise OSError("the file was replaced while it was sent")
        while start < end:
            chunk = await trio.to_thread.run_sync(file.read, start, min(CHUNK_BYTES, end - start))
            if not chunk:
                raise OSError("the file became shorter while it was sent")
            start += len(chunk)
            if confirm is not None:
                try:
                    await confirm()
                except HttpError as error:
                    raise PermissionError("access to the file ended while it was sent") from error
            yield chunk
