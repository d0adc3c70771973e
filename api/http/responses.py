"""The few forms an answer has."""

from collections.abc import AsyncIterator, Mapping, Sequence

from quart import Response

from motorpool.api.json import encode

__all__ = ["as_bytes", "as_json", "as_json_array", "as_text", "nothing"]


def as_json(value: object, status: int = 200) -> Response:
    """Records as JSON."""
    return Response(encode(value), status, content_type="application/json")


async def as_json_array(batches: AsyncIterator[Sequence[object]]) -> Response:
    """Batches of records as one JSON array, written as they come: memory holds one batch.

    The first batch is fetched before anything is answered, so that a database that is away is a 503.
    """
    filled = _filled(batches)
    first = await anext(filled, None)
    second = await anext(filled, None) if first is not None else None
    if second is None:
        return as_json(first or [])

    async def write() -> AsyncIterator[bytes]:
        yield b"[" + encode(first)[1:-1] + b"," + encode(second)[1:-1]
        async for batch in filled:
            yield b"," + encode(batch)[1:-1]
        yield b"]"

    return Response(write(), 200, content_type="application/json")


async def _filled(batches: AsyncIterator[Sequence[object]]) -> AsyncIterator[Sequence[object]]:
    async for batch in batches:
        if batch:
            yield batch


def as_text(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """One line for people."""
    return Response(text, status, headers=dict(headers or {}), content_type="text/plain; charset=utf-8")


def as_bytes(content: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """A file in one piece (small pieces are dear, docs/performance.md#http)."""
    return Response(content, 200, headers=dict(headers or {}), content_type=media_type)


def nothing() -> Response:
    """204."""
    return Response(b"", 204)
