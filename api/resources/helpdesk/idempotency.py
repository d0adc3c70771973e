"""Requests with the header Idempotency-Key: what was done once is answered again, not done again
(docs/tickets.md#repeated-requests).
"""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgspec
import trio
from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.helpdesk.ticket_json import json_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import idempotency, ticket_lists, tickets
from motorpool.storage.helpdesk.helpdesk_records import Ticket, TicketEvent
from motorpool.storage.helpdesk.idempotency import StoredAnswer

HEADER = "Idempotency-Key"
IDEMPOTENCY_KEY: Mapping[str, str] = {
    HEADER: (
        "1 to 128 visible ASCII characters. A request that was served is answered again with what it was "
        "answered then, for a day, and nothing is done twice; with another body the answer is 400. "
        "Not in the specification."
    )
}
REPLAY_HEADER = "Idempotent-Replay"
MAX_LENGTH = 128
MAX_ANSWER_BYTES = 65_536
"""A longer answer is not stored: the present state of the ticket is answered, or the comment as it was."""
WAIT_SECONDS = 5.0
"""How long a request waits for one with the same key that is in progress."""


class RepeatableRequest:
    """A request that may have a key. Without one nothing is looked up or stored."""

    def __init__(self, call: Call, key: str, body_hash: bytes) -> None:
        self._call = call
        self._key = key
        self._hash = body_hash
        self._path = f"{call.request.method} {call.request.path}"

    @property
    def has_key(self) -> bool:
        """Whether the answer is to be stored."""
        return bool(self._key)

    async def earlier_answer(self, queries: Queries) -> Response | None:
        """Return the answer that the request was given before; BadRequest if that had another body."""
        if not self._key:
            return None
        found = await idempotency.find(queries, self._call.caller.id, self._key, self._path)
        if found is None:
            return None
        if found.body_hash != self._hash:
            raise BadRequest(f"{HEADER}: was used with another body")
        if found.answer.startswith(b"["):
            found = found._replace(answer=await _long_answer(queries, found.answer))
        return _response(found)

    async def store(self, transaction: Queries, answer: bytes, record: Ticket | TicketEvent) -> None:
        """Store an answer of 200, the JSON of the record, in the transaction of what was done."""
        if self._key:
            if len(answer) > MAX_ANSWER_BYTES:
                ids = _Ids(record.id) if isinstance(record, Ticket) else _Ids(record.ticket_id, record.id)
                answer = msgspec.json.encode(ids)
            stored = StoredAnswer(self._hash, 200, answer)
            await idempotency.store(
                transaction, self._call.caller.id, self._key, self._path, stored, now=self._call.now
            )


class _Ids(msgspec.Struct, frozen=True, array_like=True):
    """What is stored in place of a long answer."""

    ticket_id: int
    entry_id: int = 0
    """The comment that was answered; 0 if the ticket was."""


async def _long_answer(queries: Queries, stored: bytes) -> bytes:
    ids = msgspec.json.decode(stored, type=_Ids)
    record: Ticket | TicketEvent | None
    if ids.entry_id:
        record = await ticket_lists.fetch_entry(queries, ids.entry_id)
    else:
        record = await tickets.TABLE.fetch(queries, ids.ticket_id)
    if record is None:
        raise BadRequest(f"{HEADER}: the ticket was deleted")
    return json_of(record)


class _Versioned(msgspec.Struct, frozen=True):
    """What the answers that are stored have in common."""

    version: int


def _response(found: StoredAnswer) -> Response:
    response = Response(
        found.answer, found.status, content_type="application/json", headers={REPLAY_HEADER: "true"}
    )
    response.set_etag(str(msgspec.json.decode(found.answer, type=_Versioned).version))
    return response


@asynccontextmanager
async def repeatable(call: Call) -> AsyncIterator[RepeatableRequest]:
    """Serve a request in the block; one with the same key waits until it has been served.

    Raises:
        BadRequest: The key is not one, or the other request takes too long.
    """
    key = call.request.headers.get(HEADER, "")
    if HEADER in call.request.headers and not (
        0 < len(key) <= MAX_LENGTH and all("!" <= letter <= "~" for letter in key)
    ):
        raise BadRequest(f"{HEADER}: not 1 to {MAX_LENGTH} visible ASCII characters")
    if not key:
        yield RepeatableRequest(call, "", b"")
        return
    body_hash = hashlib.sha256(await call.raw_body()).digest()
    request = RepeatableRequest(call, key, body_hash)
    in_progress = call.context.helpdesk.keys_in_progress
    name = call.caller.id, key, request._path
    with trio.move_on_after(WAIT_SECONDS) as waiting:
        while (earlier := in_progress.get(name)) is not None:
            await earlier.wait()
    if waiting.cancelled_caught:
        raise BadRequest("request in progress")
    in_progress[name] = served = trio.Event()
    try:
        yield request
    finally:
        del in_progress[name]
        served.set()
