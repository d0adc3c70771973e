"""Text that goes out gzipped where the client accepts it: JSON, playlists, and the like.

Answers to GET alone: what else is answered may hold a secret beside what the client sent, and how well such
two compress together tells about the secret. Nothing that is a file with a tag or ranges of its own.
"""

import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import trio
from quart import Request, Response
from quart.wrappers.response import IterableBody

__all__ = ["accepts_gzip", "compress"]

MIN_BYTES = 512
"""Less than this fits into one packet anyway."""
IN_THREAD_BYTES = 64 * 1024
"""More than this takes milliseconds, and the loop does not wait for it."""
LEVEL = 1
"""JSON and playlists become an eighth at this level already."""
_TYPES = frozenset({"application/json", "application/vnd.apple.mpegurl", "text/plain", "text/csv"})
_GZIP = 16 + zlib.MAX_WBITS
SMALL_BYTES = 4096
"""Up to this little tables do: clearing large ones takes 0.2 ms, a live playlist with little ones 0.01."""
_SMALL_GZIP, _SMALL_MEMORY = 16 + 11, 4


def accepts_gzip(asked: Request) -> bool:
    """Whether the client said so; silence is no."""
    return "Accept-Encoding" in asked.headers and asked.accept_encodings.quality("gzip") > 0


async def compress(asked: Request, response: Response) -> None:
    """Compress the answer in place if that is worth it; say that it depends on the request."""
    if (
        asked.method != "GET"
        or response.status_code != 200
        or response.mimetype not in _TYPES
        or {"Content-Encoding", "ETag", "Content-Range"} & set(response.headers.keys())
    ):
        return
    response.headers.add("Vary", "Accept-Encoding")
    if not accepts_gzip(asked):
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


async def _gzip_stream(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Compress what comes piece by piece, and end with it."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    async with aclosing(pieces):  # type: ignore[type-var]  # they are a generator, as all of ours
        async for piece in pieces:
            if packed := await _run(packer.compress, piece):
                yield packed
    yield packer.flush()


def _gzip(content: bytes) -> bytes:
    if len(content) > SMALL_BYTES:
        return zlib.compress(content, LEVEL, _GZIP)
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _SMALL_GZIP, _SMALL_MEMORY)
    return packer.compress(content) + packer.flush()


async def _run(call: Callable[[bytes], bytes], content: bytes) -> bytes:
    if len(content) > IN_THREAD_BYTES:
        return await trio.to_thread.run_sync(call, content)
    return call(content)
