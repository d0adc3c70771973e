"""Constructors of answers."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing

from quart import Response

from motorpool.actors.words.record_json import encode

Batches = AsyncGenerator[Sequence[object], None]


def as_json(value: object, status: int = 200) -> Response:
    """Return records as JSON."""
    return Response(encode(value), status, content_type="application/json")


async def as_json_array(batches: Batches) -> Response:
    """Return batches of records as one JSON array, streamed so that memory holds one batch.

    The first batch is fetched before the answer begins, so that an unavailable database is a 503.
    """
    non_empty = _without_empty(batches)
    first = await anext(non_empty, None)
    second = await anext(non_empty, None) if first is not None else None
    if second is None:
        return as_json(first or [])

    async def write() -> AsyncIterator[bytes]:
        async with aclosing(non_empty):
            yield b"[" + encode(first)[1:-1] + b"," + encode(second)[1:-1]
            async for batch in non_empty:
                yield b"," + encode(batch)[1:-1]
            yield b"]"

    return Response(write(), 200, content_type="application/json")


async def as_json_text(chunks: AsyncGenerator[bytes, None]) -> Response:
    """Return chunks of JSON text as a streamed answer; the first is awaited before it begins."""
    return await as_chunks(chunks, content_type="application/json")


async def as_chunks(chunks: AsyncGenerator[bytes, None], *, content_type: str) -> Response:
    """Return chunks as a streamed answer; the first is awaited before it begins."""
    first = await anext(chunks, b"")

    async def write() -> AsyncIterator[bytes]:
        async with aclosing(chunks):
            yield first
            async for chunk in chunks:
                yield chunk

    return Response(write(), 200, content_type=content_type)


async def _without_empty(
    batches: AsyncGenerator[Sequence[object], None],
) -> AsyncGenerator[Sequence[object], None]:
    async with aclosing(batches):
        async for batch in batches:
            if batch:
                yield batch


def as_text(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return one line of text for people."""
    return Response(text, status, headers=dict(headers or {}), content_type="text/plain; charset=utf-8")


def as_bytes(content: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return bytes as one chunk, which is cheaper than small ones (docs/performance.md#http)."""
    return Response(content, 200, headers=dict(headers or {}), content_type=media_type)


def no_content() -> Response:
    """Return 204 without a body."""
    return Response(b"", 204)
