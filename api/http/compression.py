"""Gzip for text such as JSON and playlists, if the client accepts it.

Only answers to GET are compressed: others may contain a secret next to text that the client sent, and the
compressed size would reveal something about it (the BREACH attack). Nor are files with an ETag or ranges.
"""

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import trio
from quart import Request, Response
from quart.wrappers.response import IterableBody

MIN_BYTES = 512
"""Shorter answers fit into one packet anyway."""
IN_THREAD_BYTES = 64 * 1024
"""Longer answers take milliseconds and are compressed in a thread."""
LEVEL = 1
"""The zlib level; JSON and playlists shrink to an eighth at this level already."""
_TYPES = frozenset(
    {
        "application/gpx+xml",
        "application/json",
        "application/vnd.apple.mpegurl",
        "application/vnd.google-earth.kml+xml",
        "text/csv",
        "text/plain",
    }
)
_FINAL = frozenset({"Content-Encoding", "ETag", "Content-Range"})
"""Headers of answers that are left as they are."""
_GZIP = 16 + zlib.MAX_WBITS
SMALL_BYTES = 4096
"""Up to this length small tables are used: initializing large ones takes 0.2 ms, small ones 0.01 ms."""
_SMALL_GZIP, _SMALL_MEMORY = 16 + 11, 4


def accepts_gzip(request: Request) -> bool:
    """Return whether the client accepts gzip explicitly."""
    return "Accept-Encoding" in request.headers and request.accept_encodings.quality("gzip") > 0


async def compress(request: Request, response: Response) -> None:
    """Compress the answer in place if that is worthwhile, and add Vary."""
    if (
        request.method != "GET"
        or response.status_code != 200
        or response.mimetype not in _TYPES
        or not _FINAL.isdisjoint([name for name, _ in response.headers])
    ):
        return
    response.headers.add("Vary", "Accept-Encoding")
    if not accepts_gzip(request):
        return
    body = response.response
    if isinstance(body, IterableBody):
        response.response = IterableBody(_gzip_stream(aiter(body)))
    elif (response.content_length or 0) < MIN_BYTES:
        return
    else:
        content = await response.get_data(as_text=False)
        response.set_data(await _run(_gzip, content))
    response.headers["Content-Encoding"] = "gzip"


async def _gzip_stream(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Compress an answer chunk by chunk."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    async with aclosing(chunks):  # type: ignore[type-var]  # the type does not say that it is a generator
        async for chunk in chunks:
            if compressed := await _run(compressor.compress, chunk):
                yield compressed
    yield compressor.flush()


def _gzip(content: bytes) -> bytes:
    if len(content) > SMALL_BYTES:
        return zlib.compress(content, LEVEL, _GZIP)
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, _SMALL_GZIP, _SMALL_MEMORY)
    return compressor.compress(content) + compressor.flush()


async def _run(call: Callable[[bytes], bytes], content: bytes) -> bytes:
    if len(content) > IN_THREAD_BYTES:
        return await trio.to_thread.run_sync(call, content)
    return call(content)
