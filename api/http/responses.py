"""Constructors of answers."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import cast

import msgspec
from quart import Response

from motorpool.actors.words.record_json import encode

Batches = AsyncGenerator[Sequence[object], None]

WHOLE_BYTES = 1 << 20
"""A list that is longer is streamed."""


def as_json(value: object, status: int = 200) -> Response:
    """Return records as JSON."""
    return Response(encode(value), status, content_type="application/json")


async def as_json_array(batches: Batches) -> Response:
    """Return batches of records as one JSON array.

    A long one is streamed so that memory holds some of it. The first batches are fetched before the answer
    begins, so that an unavailable database is a 503.
    """
    non_empty = _without_empty(batches)
    pieces: list[bytes | msgspec.Raw] = []
    size, count = 0, 0
    while (batch := await anext(non_empty, None)) is not None and (size <= WHOLE_BYTES or count < 2):
        added = _pieces(batch)
        pieces += added
        size += sum(map(len, added))
        count += 1
    if batch is None:
        return as_bytes(_array(pieces), "application/json")
    following = batch

    async def write() -> AsyncIterator[bytes]:
        async with aclosing(non_empty):
            yield _array(pieces)[:-1]
            yield b"," + b",".join(_pieces(following))
            async for batch in non_empty:
                yield b"," + b",".join(_pieces(batch))
            yield b"]"

    return Response(write(), 200, content_type="application/json")


def _pieces(batch: Sequence[object]) -> Sequence[bytes | msgspec.Raw]:
    """Return JSON of a batch, between whose pieces commas belong; all records may be JSON already."""
    if type(batch[0]) is msgspec.Raw:
        return cast("Sequence[msgspec.Raw]", batch)
    return (encode(batch)[1:-1],)


def _array(pieces: list[bytes | msgspec.Raw]) -> bytes:
    """Return these pieces as an array. They are copied once: pages of a copy cost more than its bytes."""
    if not pieces:
        return b"[]"
    first, last = bytes(pieces[0]), bytes(pieces[-1])
    if len(pieces) == 1:
        return b"[%b]" % first
    return b",".join((b"[" + first, *pieces[1:-1], last + b"]"))


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
