"""Files of the program that are served as they are, read once and kept compressed in memory."""

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from quart import Response, request

from motorpool.api.http.file_responses import media_type

SUFFIXES = frozenset({".html", ".css", ".js", ".json", ".svg", ".txt", ".webmanifest"})
"""Files with other suffixes are not served."""


@dataclass(frozen=True)
class StaticFile:
    """A file and the headers that all answers with it have."""

    gzipped: bytes
    etag: str
    media_type: str
    policy: str
    """Content-Security-Policy."""
    immutable: bool
    """The name changes with the content: clients need not ask again."""


def make_file(name: str, content: bytes, policy: str, compressed: bytes | None = None) -> StaticFile:
    """Return the file with this name; `compressed` is its content as gzip, if that is known."""
    return StaticFile(
        compressed or gzip.compress(content, 6, mtime=0),
        f'"{hashlib.sha256(content).hexdigest()[:20]}"',
        media_type(name),
        policy,
        immutable=name.startswith("assets/"),
    )


def load_files(folder: Traversable, policy: str, prefix: str = "") -> Iterator[tuple[str, StaticFile]]:
    """Yield the files of a folder and those below it, by their path from there.

    A file with `.gz` after the name of another is that one compressed.
    """
    items = {item.name: item for item in folder.iterdir()}
    for name, item in items.items():
        if item.is_dir():
            yield from load_files(item, policy, f"{prefix}{name}/")
        elif PurePosixPath(name).suffix in SUFFIXES:
            compressed = items.get(f"{name}.gz")
            yield (
                prefix + name,
                make_file(
                    prefix + name, item.read_bytes(), policy, compressed.read_bytes() if compressed else None
                ),
            )


def answer_file(file: StaticFile) -> Response:
    """Answer the current request with the file, or with 304."""
    headers = {
        "ETag": file.etag,
        "Cache-Control": "public, max-age=31536000, immutable" if file.immutable else "no-cache",
        "Content-Security-Policy": file.policy,
        "Vary": "Accept-Encoding",
    }
    if file.etag in request.headers.get("If-None-Match", ""):
        return Response(b"", 304, headers=headers)
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.gzipped, 200, headers=headers, content_type=file.media_type)
    # All browsers take gzip, so the plain content is not kept.
    return Response(gzip.decompress(file.gzipped), 200, headers=headers, content_type=file.media_type)
