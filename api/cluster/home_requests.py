"""Sends requests to other servers of the cluster; those that are alike share one (docs/decisions/0286).

A viewer who leaves ends no request that others wait for: it belongs to this actor.
"""

from collections import Counter, deque
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec
import trio

from motorpool.api.cluster.answer_cache import Answer, AnswerCache
from motorpool.api.http.node_gate import CALLER_HEADER, CLIENT_HEADER, KEY_HEADER, Sender
from motorpool.runtime import Actor, Deferred, Kind, NodeLocal, Request, Signal
from motorpool.storage.cluster.homes import Home
from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database
from motorpool.storage.errors import StorageError

if TYPE_CHECKING:
    import httpx

ANSWER_SECONDS = 85.0
"""Limit for an answer: above the longest wait for a playlist (api/resources/streams.py)."""
CONNECT_SECONDS = 3.0
DOWN_SECONDS = 1.0
"""How long a server to which no connection could be opened is not tried again."""
WATCH_SECONDS = 1.0
"""Between two looks whether the servers that have not answered yet still renew their rows."""
MEMORY_BYTES = 32 << 20
KEEP_SECONDS = 60.0
"""For segments and parts, which never change."""
PLAYLIST_SECONDS = 0.5
"""For all else that is shared: many viewers poll a playlist, each at instants of their own."""
ANSWER_BYTES = 32 << 20
"""A longer answer is an error."""
MAX_REQUESTS = 1_000
"""Most requests in progress at once."""
MAX_USER_REQUESTS = 200
"""Most of them begun by one user: a player has two or three at once, a browser six of one address."""
MAX_DEVICE_REQUESTS = 64
"""Most of them for one device."""
MAX_USER_DEVICE_REQUESTS = 32
"""Most of them begun by one user for one device: its other viewers have theirs."""
IDLE_CONNECTION_SECONDS = 30.0
"""Less than the server at the other end keeps idle ones."""

_HEADERS = frozenset(
    (
        "cache-control",
        "content-type",
        "last-modified",
        "retry-after",
        "x-warning",
    )
)
"""Headers of an answer that are passed on."""


class HomeRequest(msgspec.Struct, Request["Answer | NoAnswer"], NodeLocal, frozen=True, gc=False):
    """Send a request to the home of a device; return the answer."""

    home: Home
    device_id: int
    user_id: int
    """Whose request it is in the limits."""
    path: str
    """Path and query, quoted."""
    method: str = "GET"
    sender: Sender = Sender()
    """With a user, the answer is for this request alone."""
    client: str = ""
    """Address of the client, for the audit; empty where the answer is shared."""


class NoAnswer(msgspec.Struct, frozen=True):
    """The home has not answered."""

    reason: str


HOME_REQUESTS: Kind[None, HomeRequest] = Kind("home_requests")


class _UnderWay:
    """A request, and who waits for its answer."""

    def __init__(self, key: object, request: HomeRequest, began: float) -> None:
        self.key = key
        self.request = request
        self.began = began
        self.replies: list[Deferred[Answer | NoAnswer]] = []
        self.scope = trio.CancelScope()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for the answer, or it may have changed something."""
        return self.request.method != "GET" or any(reply.is_awaited for reply in self.replies)


class HomeRequests(Actor[HomeRequest]):
    """One HTTP client for all other servers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._under_way: dict[object, _UnderWay] = {}
        self._slots: Counter[tuple[str, *tuple[int, ...]]] = Counter()
        """How many requests are under way of each user, and for each device."""
        self._unsent: deque[_UnderWay] = deque()
        self._added = Signal()
        self._down_until: dict[int, float] = {}
        self._answers: AnswerCache[object]
        self._client: httpx.AsyncClient

    async def start(self) -> None:
        """Make the memory."""
        self._answers = AnswerCache(MEMORY_BYTES, self.context.clock.monotonic)

    def handle(self, message: HomeRequest) -> Answer | NoAnswer | Deferred[Answer | NoAnswer]:
        """Answer from memory, join a request that is under way, or send one."""
        is_shared = _is_shared(message)
        key: object = (message.home.node, message.path) if is_shared else object()
        answer = self._answers.get(key) if is_shared else None
        if answer is not None:
            return answer
        under_way = self._under_way.get(key)
        if under_way is None:
            if reason := self._refusal(message):
                return NoAnswer(reason)
            under_way = self._under_way[key] = _UnderWay(key, message, trio.current_time())
            self._slots.update(_limits(message).keys())
            self._unsent.append(under_way)
            self._added.set()
        reply: Deferred[Answer | NoAnswer] = Deferred()
        under_way.replies.append(reply)
        return reply

    def _refusal(self, message: HomeRequest) -> str:
        if self._down_until.get(message.home.node, 0.0) > trio.current_time():
            return "the server of the device cannot be reached now"
        if len(self._under_way) >= MAX_REQUESTS or any(
            self._slots[key] >= limit for key, limit in _limits(message).items()
        ):
            return "too many requests to the server of the device are under way"
        return ""

    async def run(self) -> None:
        """Send what is added, each request in a task of its own."""
        # Not before it is needed, as in actors/http/http.py.
        import httpx  # noqa: PLC0415

        limits = httpx.Limits(
            max_connections=MAX_REQUESTS,
            max_keepalive_connections=MAX_DEVICE_REQUESTS,
            keepalive_expiry=IDLE_CONNECTION_SECONDS,
        )
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        async with AsyncExitStack() as stack:
            self._client = await stack.enter_async_context(
                httpx.AsyncClient(limits=limits, timeout=timeout, trust_env=False, verify=False)  # noqa: S501 - http only
            )
            nursery = await stack.enter_async_context(trio.open_nursery())
            nursery.start_soon(self._watch)
            while True:
                await self._added.wait()
                while self._unsent:
                    nursery.start_soon(self._send, self._unsent.popleft())

    async def _send(self, under_way: _UnderWay) -> None:
        request = under_way.request
        answer: Answer | NoAnswer = NoAnswer("the server of the device does not answer now")
        try:
            with under_way.scope:
                answer = await self._exchange(request)
        finally:
            self._forget(under_way)
        if isinstance(answer, Answer) and _is_shared(request) and answer.status == 200:
            is_constant = "immutable" in answer.headers.get("cache-control", "")
            self._answers.keep(under_way.key, answer, KEEP_SECONDS if is_constant else PLAYLIST_SECONDS)
        for reply in under_way.replies:
            reply.answer(answer)

    def _forget(self, under_way: _UnderWay) -> None:
        """Close a shared request, which has ended or is to end, to new waiters."""
        if self._under_way.get(under_way.key) is under_way:
            del self._under_way[under_way.key]
            for key in _limits(under_way.request):
                self._slots[key] -= 1
                if not self._slots[key]:
                    del self._slots[key]

    async def _exchange(self, request: HomeRequest) -> Answer | NoAnswer:
        import httpx  # noqa: PLC0415 - as above

        home = request.home
        headers = {
            KEY_HEADER: home.key,
            CALLER_HEADER: msgspec.json.encode(request.sender).decode(),
            "Accept-Encoding": "identity",
        }
        if request.client:
            # A proxy may have put any text there.
            headers[CLIENT_HEADER] = request.client.encode("ascii", "replace").decode()
        try:
            with trio.fail_after(ANSWER_SECONDS):
                async with self._client.stream(
                    request.method, home.address + request.path, headers=headers
                ) as response:
                    body = bytearray()
                    async for chunk in response.aiter_raw():
                        body += chunk
                        if len(body) > ANSWER_BYTES:
                            return NoAnswer("the answer of the server of the device is too large")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self._down_until[home.node] = trio.current_time() + DOWN_SECONDS
            self.context.log.warning("server %d cannot be reached at %s: %s", home.node, home.address, error)
            return NoAnswer("the server of the device cannot be reached now")
        except (httpx.HTTPError, httpx.InvalidURL, trio.TooSlowError) as error:
            self.context.log.warning("server %d at %s: %r", home.node, home.address, error)
            return NoAnswer("the server of the device does not answer now")
        if response.status_code == 403 and not request.sender.user_id:
            # Another start of the server listens there now.
            return NoAnswer("the server of the device has just started")
        passed_on = {name: value for name, value in response.headers.items() if name in _HEADERS}
        return Answer(response.status_code, passed_on, bytes(body))

    async def _watch(self) -> None:
        """Give up requests that nobody waits for or whose servers are dead or frozen; drop answers that have
        expired.
        """
        while True:
            await trio.sleep(WATCH_SECONDS)
            self._answers.drop_expired()
            for each in [each for each in self._under_way.values() if not each.is_wanted]:
                self._forget(each)
                each.scope.cancel()
            now = trio.current_time()
            late = [each for each in self._under_way.values() if now - each.began >= WATCH_SECONDS]
            if not late:
                continue
            try:
                responding = await nodes.responding(self._database, {each.request.home.node for each in late})
            except StorageError:
                continue
            for each in late:
                if each.request.home.node not in responding:
                    each.scope.cancel()
            self._down_until = {node: until for node, until in self._down_until.items() if until > now}


def _is_shared(request: HomeRequest) -> bool:
    """Whether all who ask alike get the same answer."""
    return request.method == "GET" and not request.sender.user_id


def _limits(request: HomeRequest) -> dict[tuple[str, *tuple[int, ...]], int]:
    """Return the keys under which a request takes a slot, each with its limit."""
    return {
        ("user", request.user_id): MAX_USER_REQUESTS,
        ("device", request.device_id): MAX_DEVICE_REQUESTS,
        ("user and device", request.user_id, request.device_id): MAX_USER_DEVICE_REQUESTS,
    }
