"""Files from disk as answers: types, ranges, and no more bytes than needed.

A file may be replaced at any moment, but only as a whole: a long answer that finds another file in the place
of the one it began with ends early, so that nobody gets a mixture.
"""

import mimetypes
import os
import re
import stat
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path, PurePosixPath

import trio
from quart import Request, Response

__all__ = ["media_type", "send_file"]

PIECE_BYTES = 256 * 1024
"""Files up to this go out as one piece (docs/performance.md#http)."""

_TYPES = mimetypes.MimeTypes()
"""Python's own table: what the machine thinks of endings does not matter."""
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
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def media_type(name: str) -> str:
    """The type of a file by its ending."""
    found = _TYPES.types_map[True].get(PurePosixPath(name).suffix.lower(), "application/octet-stream")
    return f"{found}; charset=utf-8" if found.startswith("text/") else found


@dataclass(frozen=True)
class FileVersion:
    """A file as it was when it was asked for."""

    path: Path
    size: int
    modified: float
    tag: str
    content: bytes | None
    """Of a short one."""


async def send_file(asked: Request, root: Path, name: str, headers: Mapping[str, str]) -> Response | None:
    """Answer with a file below `root`; None where there is none, or where it leads out of `root`.

    Conditions and ranges are answered with 304, 206 or 416.
    """
    found = await trio.to_thread.run_sync(_find, root, name)
    if found is None:
        return None
    known = {
        **headers,
        "ETag": found.tag,
        "Last-Modified": formatdate(found.modified, usegmt=True),
        "Accept-Ranges": "bytes",
    }
    if _is_not_modified(asked, found):
        return Response(b"", 304, headers=known)
    start, end, status = 0, found.size, 200
    wanted = _range(asked, found)
    if wanted is not None:
        start, end = wanted
        if start >= end:
            return Response(b"", 416, headers={**known, "Content-Range": f"bytes */{found.size}"})
        status = 206
        known["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    kind = media_type(name)
    if asked.method == "HEAD":
        response = Response(b"", status, headers=known, content_type=kind)
    elif found.content is not None:
        response = Response(found.content[start:end], status, headers=known, content_type=kind)
    else:
        response = Response(_pieces(found, start, end), status, headers=known, content_type=kind)
    response.headers["Content-Length"] = str(end - start)
    return response


def _find(root: Path, name: str) -> FileVersion | None:
    path = root / name
    try:
        # A link may stand in the folder, but not lead out of it.
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            return None
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):  # not there, or no name at all
        return None
    state = os.fstat(opened)
    if not stat.S_ISREG(state.st_mode):
        os.close(opened)
        return None
    with os.fdopen(opened, "rb") as file:
        content = file.read(PIECE_BYTES + 1)
        short = len(content) <= PIECE_BYTES
        size = len(content) if short else state.st_size
        return FileVersion(path, size, state.st_mtime, _tag(state), content if short else None)


def _tag(state: os.stat_result) -> str:
    return f'"{state.st_ino:x}-{state.st_mtime_ns:x}-{state.st_size:x}"'


def _is_not_modified(asked: Request, found: FileVersion) -> bool:
    tags = asked.headers.get("If-None-Match")
    if tags is not None:
        return tags.strip() == "*" or found.tag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
    since = _time(asked.headers.get("If-Modified-Since"))
    return since is not None and int(found.modified) <= since


def _time(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _range(asked: Request, found: FileVersion) -> tuple[int, int] | None:
    """First byte and the one after the last; None is all. Empty where the file has none of it."""
    condition = asked.headers.get("If-Range")
    if condition is not None and condition != found.tag and _time(condition) != int(found.modified):
        return None
    # Several ranges at once may be ignored, and are.
    matched = _RANGE.fullmatch(asked.headers.get("Range", "").replace(" ", ""))
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


async def _pieces(found: FileVersion, start: int, end: int) -> AsyncIterator[bytes]:
    file = await trio.to_thread.run_sync(open, found.path, "rb")
    try:
        if _tag(os.fstat(file.fileno())) != found.tag:
            raise OSError(f"{found.path} was replaced while it was sent")
        file.seek(start)
        left = end - start
        while left:
            piece = await trio.to_thread.run_sync(file.read, min(PIECE_BYTES, left))
            if not piece:
                raise OSError(f"{found.path} became shorter while it was sent")
            left -= len(piece)
            yield piece
    finally:
        file.close()
