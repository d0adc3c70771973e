"""One request as an operation sees it: the caller, their address, and the parsed parameters and body."""

import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar

import msgspec
import trio
from quart import Request

from motorpool.actors.messages.conditions import MEMORY
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.list_parameters import with_whole_limit
from motorpool.api.engine.spans import require_spans
from motorpool.api.http.addresses import client_address
from motorpool.api.http.errors import BadRequest, Unauthorized, Unavailable
from motorpool.api.http.request_body import FORM_BYTES, BodyRequest, RequestBody, parse_form
from motorpool.api.json import decode, parse, read_fields, require_storable
from motorpool.api.server_context import ServerContext
from motorpool.storage.errors import StorageUnavailable

IN_THREAD_BYTES = 64 * 1024
"""A larger JSON body is parsed in a thread."""

MAX_ID = 2**63 - 1
"""The largest id that a column takes; no row has it."""
MEMORY_SECONDS = 30.0
"""After which a client may ask again for what was refused because memory is short."""

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class Call:
    """A request that is being served."""

    def __init__(self, context: ServerContext, request: Request, path: Mapping[str, Any]) -> None:
        self.context = context
        self.request = request
        self.path: Mapping[str, Any] = {
            name: min(value, MAX_ID) if isinstance(value, int) else value for name, value in path.items()
        }
        """The parameters in the braces of the path; the router has converted them as declared. Numbers are at
        most `MAX_ID`."""
        self.optional_caller: Caller | None = None
        """None for an anonymous client, which only public operations ever see."""
        self.unchecked: StorageUnavailable | None = None
        """Why the credential of the client could not be checked, where `optional_caller` is None for that."""
        self.rights_changes = context.rights_changes
        """`ServerContext.rights_changes` when the caller was identified."""
        self.body_bytes = FORM_BYTES
        """Most bytes of the body, as the operation declares."""
        self._body: bytes | None = None
        self._body_memory = 0
        """Bytes of the body that are counted in `ServerContext.body_memory`."""
        self.after_commit: list[Callable[[], Awaitable[None]]] = []
        """What follows the commit of a change, after it was published: `finish_change`."""
        self.warning = ""
        """The header X-Warning of the answer to such a change; empty: none."""
        self.held_seconds = 0.0
        """For how long the answer was held until there was something to read, which is not slow."""
        self.was_denied = False
        """Whether the caller named what they have no access to; if the request fails, that is audited."""
        self.shield: trio.CancelScope | None = None
        """Set while a change is served to its end whatever the client does."""

    @property
    def caller(self) -> Caller:
        """Who sent the request; Unauthorized if nobody is logged in."""
        if self.optional_caller is None:
            raise Unauthorized("log in first")
        return self.optional_caller

    @property
    def rights_may_have_changed(self) -> bool:
        """Whether the caller may have lost rights since they were identified."""
        if self.context.rights_changes != self.rights_changes:
            return True
        expires = self.optional_caller.expires if self.optional_caller is not None else None
        return expires is not None and expires <= self.now

    @property
    def id(self) -> int:
        """The `{id}` of the path."""
        number = self.path["id"]
        assert isinstance(number, int)
        return number

    @property
    def now(self) -> datetime:
        """The present instant of the injected clock."""
        return self.context.clock.now()

    @property
    def address(self) -> str:
        """The client's address; X-Forwarded-For counts only from trusted proxies."""
        return client_address(self.request, self.context.trusted_proxies)

    def require_memory(self) -> None:
        """Refuse large work while memory is short. Raises Unavailable."""
        condition = self.context.system.conditions.find(MEMORY)
        if condition is not None:
            raise Unavailable(condition.text, MEMORY_SECONDS)

    async def finish_change(self) -> None:
        """Do what was added to `after_commit`."""
        for follow in self.after_commit:
            await follow()

    @property
    def turn(self) -> trio.Semaphore:
        """What is held while much is read for an answer; each user has few turns at a time."""
        return self.context.limits.turns.of(self.caller.id)

    def in_turns(self, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
        """Yield the pieces of a long answer, each made in a turn of the user."""
        return self.context.limits.turns.pieces(self.caller.id, pieces)

    @contextmanager
    def until_disconnected(self) -> Iterator[None]:
        """Cancel the block if the client disconnects: for long work before anything is written."""
        if self.shield is not None:
            self.shield.shield = False
        try:
            yield
        finally:
            if self.shield is not None:
                self.shield.shield = True

    async def hash_password(self, password: str) -> str:
        """Hash a new password, before anything is written. Raises Unavailable if too many wait."""
        with self.until_disconnected():
            return await self.context.logins.passwords.hash(password)

    def query(self, shape: type[S]) -> S:
        """Read the query parameters; BadRequest names the wrong one, or a span that ends before it begins."""
        given = _gather(self.request.args.to_dict(flat=False), shape)
        require_storable(given)
        sent = read_fields(given, shape, strict=False)
        require_spans(sent)
        return with_whole_limit(sent)

    async def form(self, shape: type[S]) -> S:
        """Read a form, urlencoded or multipart; BadRequest names the wrong field."""
        body = await self.raw_body()
        sent = parse_form(body, self.request.mimetype, dict(self.request.mimetype_params))
        return read_fields(_gather(sent, shape), shape, strict=False)

    async def raw_body(self) -> bytes:
        """Read the body's bytes; 413 past the operation's limit, which is lower for anonymous clients."""
        if self._body is None:
            http = self.context.settings.http
            limit = self.body_bytes if self.optional_caller is not None else FORM_BYTES
            self._body = await self.body_stream.read(
                max_bytes=min(limit, http.body_bytes), seconds=http.body_seconds, take=self._take_memory
            )
        return self._body

    @property
    def body_stream(self) -> RequestBody:
        """The body as it arrives, for uploads."""
        assert isinstance(self.request, BodyRequest)
        return self.request.body

    def _take_memory(self, size: int) -> bool:
        if not self.context.limits.body_memory.take(self.address, size):
            return False
        self._body_memory += size
        return True

    def release(self) -> None:
        """Release the memory counted for the body: the request has been served."""
        if self._body_memory:
            self.context.limits.body_memory.take(self.address, -self._body_memory)
            self._body_memory = 0

    async def json(self) -> object:
        """Read a JSON body as plain values."""
        return await self._parse(parse)

    async def body_fields(self) -> frozenset[str]:
        """Return the names of the fields that a JSON body has; null counts as absent."""
        sent = await self.json()
        if not isinstance(sent, dict):
            return frozenset()
        return frozenset(name for name, value in sent.items() if value is not None)

    async def body(self, shape: type[T], *, strict: bool = True) -> T:
        """Read a JSON body; BadRequest names the wrong field."""
        return await self._parse(partial(decode, shape=shape, strict=strict))

    async def _parse(self, parser: Callable[..., T]) -> T:
        """Parse the body, a large one in a thread: half a million empty lists would delay other tasks."""
        body = await self.raw_body()
        work = partial(parser, body, depth=self.context.settings.http.json_depth)
        if len(body) <= IN_THREAD_BYTES:
            return work()
        return await trio.to_thread.run_sync(work, limiter=self.context.limits.parsers)


@cache
def _parameters(shape: type[msgspec.Struct]) -> Mapping[str, tuple[bool, bool]]:
    """Return for each parameter whether it may be given more than once, and whether it takes any text."""
    hints = typing.get_type_hints(shape)
    kinds = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(shape)}
    return {
        name: (typing.get_origin(kind) is tuple, kind is str or str in typing.get_args(kind))
        for name, kind in kinds.items()
    }


def _gather(sent: Mapping[str, list[str]], shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Take the parameters that are declared; unknown ones are ignored, empty ones count as absent."""
    found: dict[str, Any] = {}
    for name, (repeated, is_text) in _parameters(shape).items():
        values = [value for value in sent.get(name, ()) if value != ""]
        if not repeated and values and values[0].lower() == "null" and not is_text:
            # msgspec reads this as a missing number, which no client means.
            raise BadRequest(f"{name}: null is no value here")
        if values:
            found[name] = values if repeated else values[0]
    return found
