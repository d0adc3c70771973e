"""The console's static files, read once from package data and served from memory."""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from quart import Response, request
from quart_trio import QuartTrio

from motorpool.api.errors import NoSuch

__all__ = ["install"]

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
HIDDEN = {"__init__.py", "vendor.py", "package.json", "package-lock.json"}

# hls.js plays from blobs and works in a worker of its own making.
POLICY = (
    "default-src 'self'; script-src 'self'; worker-src 'self' blob:; media-src 'self' blob:; "
    "connect-src 'self'; img-src 'self' data:; style-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'self'"
)


@dataclass(frozen=True)
class StaticFile:
    """A file in memory."""

    content: bytes
    zipped: bytes
    tag: str
    media_type: str


def install(app: QuartTrio) -> None:
    """Serve index.html at `/` and the other files under `/console/`."""
    known = _files()

    @app.get("/")
    async def console() -> Response:
        return _serve(known["index.html"])

    @app.get("/console/<path:name>")
    async def console_file(name: str) -> Response:
        if name not in known or name == "index.html":
            raise NoSuch("no such file")
        return _serve(known[name])


@cache
def _files() -> dict[str, StaticFile]:
    return dict(_load(files("motorpool.api") / "console", ""))


def _load(folder: Traversable, prefix: str) -> Iterator[tuple[str, StaticFile]]:
    for item in folder.iterdir():
        if item.is_dir():
            if not item.name.startswith("__"):
                yield from _load(item, f"{prefix}{item.name}/")
            continue
        ending = item.name[item.name.rfind(".") :]
        if ending in TYPES and item.name not in HIDDEN:
            content = item.read_bytes()
            yield (
                prefix + item.name,
                StaticFile(
                    content,
                    gzip.compress(content, 6, mtime=0),
                    f'"{hashlib.sha256(content).hexdigest()[:20]}"',
                    TYPES[ending],
                ),
            )


def _serve(file: StaticFile) -> Response:
    headers = {
        "ETag": file.tag,
        # Asked again each time, answered 304 while unchanged: an update is seen at once.
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "Vary": "Accept-Encoding",
    }
    if file.tag in request.headers.get("If-None-Match", ""):
        return Response(b"", 304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        return Response(
            file.zipped, 200, headers={**headers, "Content-Encoding": "gzip"}, content_type=file.media_type
        )
    return Response(file.content, 200, headers=headers, content_type=file.media_type)
