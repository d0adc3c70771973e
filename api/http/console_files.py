"""The console's static files, read once from package data and served from memory (docs/console.md#delivery).

Files in the override folder replace those of the same path, and other files there are served as well
(docs/server.md#files), but never below /api.
"""

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from quart import Response, request
from quart.globals import request_ctx
from quart_trio import QuartTrio
from werkzeug.routing import PathConverter

from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.file_responses import send_file

__all__ = ["add_console_routes"]

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
UNSERVED = {"chunks.json"}

PAGE = "index.html"
CLASSIC_PAGE = "classic.html"
START_PAGE = CLASSIC_PAGE
"""What `/` shows: `PAGE` once the new console has live video."""
PLACES = re.compile(r"(fleet|login|account|vehicles|live|events|zones|share)(/.*)?")
"""Paths that the new console shows while `/` is the classic page."""

# hls.js plays from blobs, and on the classic page creates a worker from one.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; worker-src 'self' blob:; media-src 'self' blob:; "
    "connect-src 'self'; img-src 'self' data:; style-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'self'"
)


@dataclass(frozen=True)
class StaticFile:
    """A static file in memory, also compressed."""

    content: bytes
    gzipped: bytes
    etag: str
    media_type: str


class OutsideApi(PathConverter):
    """Matches any path but those of the API, which answers unknown ones itself."""

    regex = r"(?!api(?:/|$))[^/].*?"


def add_console_routes(app: QuartTrio, override: Path) -> None:
    """Serve the page at `/`, the other files under `/console/`, and those of the override folder.

    A path without a file, opened as a page, is a view inside the console and gets the page.
    """
    known = _files()
    app.url_map.converters["outside_api"] = OutsideApi

    @app.get("/")
    async def console() -> Response:
        return await _override("index.html") or _serve(known[START_PAGE])

    @app.get("/<outside_api:path>")
    async def file(path: str) -> Response:
        found = await _override(path)
        if found is not None:
            return found
        name = path.removeprefix("console/")
        if name != path and name in known and not name.endswith(".html"):
            return _serve(known[name])
        if "." not in path and "text/html" in request.headers.get("Accept", ""):
            return _serve(known[PAGE]) if PLACES.fullmatch(path) else await console()
        raise ResourceNotFound("no such file")

    async def _override(path: str) -> Response | None:
        if any(segment in {"", ".", ".."} for segment in path.split("/")):
            return None
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": CONTENT_SECURITY_POLICY}
        return await send_file(request_ctx.request, override, path, headers)


@cache
def _files() -> dict[str, StaticFile]:
    """Return all files by their path under `/console/`; without a build the page says what is missing."""
    folder = files("motorpool.api") / "console"
    found = dict(_load(folder / "classic", ""))
    found[CLASSIC_PAGE] = found.pop(PAGE)
    found[PAGE] = _read(folder / "absent.html")
    if (folder / "dist").is_dir():
        found.update(_load(folder / "dist", ""))
    return found


def _load(folder: Traversable, prefix: str) -> Iterator[tuple[str, StaticFile]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _load(item, f"{prefix}{item.name}/")
        elif _ending(item) in TYPES and item.name not in UNSERVED:
            yield prefix + item.name, _read(item)


def _ending(file: Traversable) -> str:
    return file.name[file.name.rfind(".") :]


def _read(file: Traversable) -> StaticFile:
    content = file.read_bytes()
    return StaticFile(
        content,
        gzip.compress(content, 6, mtime=0),
        f'"{hashlib.sha256(content).hexdigest()[:20]}"',
        TYPES[_ending(file)],
    )


def _serve(file: StaticFile) -> Response:
    headers = {
        "ETag": file.etag,
        # Revalidated each time, so an update is seen at once.
        "Cache-Control": "no-cache",
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Vary": "Accept-Encoding",
    }
    if file.etag in request.headers.get("If-None-Match", ""):
        return Response(b"", 304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(
            file.gzipped, 200, headers={**headers, "Content-Encoding": "gzip"}, content_type=file.media_type
        )
    return Response(file.content, 200, headers=headers, content_type=file.media_type)
