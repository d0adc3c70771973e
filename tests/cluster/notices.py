"""NOTIFY of PostgreSQL, simulated: what is sent waits at each listener until the history hands it over."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")

Listen = Callable[["_Driver", int, str, str], None]


class Execute(Protocol):
    """Execute something at the turn of a server; raises StorageUnavailable."""

    async def __call__(self, call: Callable[[], Awaitable[T]], /) -> T:
        """Return what `call` returns."""
        ...


class Notices:
    """The connections that listen."""

    def __init__(self) -> None:
        self.listening: list[NoticeConnection] = []


class NoticeConnection:
    """Stands for the connection of storage/cluster/broadcast.py."""

    def __init__(self, notices: Notices, execute: Execute) -> None:
        self.driver = _Driver(self)
        self.unread: deque[tuple[int, str, str]] = deque()
        """The number of the sender, the channel and the text of each."""
        self._notices = notices
        self._execute = execute

    async def call(self, seconds: float, method: Callable[..., Awaitable[T]], *args: object) -> T:
        """Call a method of the driver at the next turn of the server. Raises StorageUnavailable."""
        del seconds
        return await self._execute(lambda: method(*args))

    def open(self) -> None:
        """Begin to receive what others send."""
        self._notices.listening.append(self)

    def send(self, channel: str, texts: Sequence[str]) -> None:
        """Have the texts received by all others."""
        for other in self._notices.listening:
            if other is not self:
                other.unread.extend((self.driver.get_server_pid(), channel, text) for text in texts)

    def receive(self) -> None:
        """Read all that has arrived."""
        while self.unread:
            self.driver.receive(*self.unread.popleft())

    def terminate(self) -> None:
        """Close the connection, with what was not read."""
        if self in self._notices.listening:
            self._notices.listening.remove(self)
        self.unread.clear()
        self.driver.terminate()


class _Driver:
    """What storage/cluster/broadcast.py uses of asyncpg."""

    def __init__(self, connection: NoticeConnection) -> None:
        self._connection = connection
        self._listen: Listen
        self._on_end: list[Callable[[_Driver], None]] = []

    def get_server_pid(self) -> int:
        """Return a number of this connection."""
        return id(self)

    def add_termination_listener(self, listener: "Callable[[_Driver], None]") -> None:
        """Call `listener` when the connection is closed."""
        self._on_end.append(listener)

    async def add_listener(self, channel: str, listener: Listen) -> None:
        """Listen, to the one channel that there is."""
        del channel
        self._listen = listener
        self._connection.open()

    async def execute(self, sql: str, channel: str = "", texts: Sequence[str] = ()) -> None:
        """Send; a statement without texts sends nothing."""
        del sql
        self._connection.send(channel, texts)

    async def fetch(self, sql: str, silent_seconds: float) -> Sequence[Sequence[object]]:
        """Give a sign of life; no session of another is found silent."""
        del sql, silent_seconds
        return ()

    def receive(self, sender: int, channel: str, text: str) -> None:
        """Hand a text over to the listener."""
        self._listen(self, sender, channel, text)

    def terminate(self) -> None:
        """Tell who wants to know it."""
        for listener in self._on_end:
            listener(self)
        self._on_end.clear()
