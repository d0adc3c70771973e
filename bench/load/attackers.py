"""Anonymous peers that load each port as much as they can, from separate addresses.

`python -m motorpool.bench.load.attackers` reads an AttackLoad from standard input, attacks for its time, and
writes an AttackResult to standard output. Each attack ends, and begins again, when the server ends it.
"""

import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
import trio

from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import AttackLoad, AttackResult, Mark
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit

FORM = "application/x-www-form-urlencoded"
LARGE_BYTES = 16 << 20
PIECE = b"a=1&" * 4096
PAUSE_SECONDS = 0.1
"""Between two attempts of one peer: what is measured is the server, not how often it can be called."""
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"

Attack = Callable[["Attackers"], Awaitable[None]]


class Attackers:
    """The peers of one load."""

    def __init__(self, load: AttackLoad) -> None:
        self.load = load
        self.attempts: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        """Attempts that the server answered or closed."""

    async def run(self) -> AttackResult:
        """Attack for the time of the load."""
        with trio.move_on_after(self.load.seconds):
            async with trio.open_nursery() as nursery:
                for name, (attack, peers) in ATTACKS.items():
                    for _ in range(max(1, round(peers * self.load.scale))):
                        nursery.start_soon(self._repeat, name, attack)
        return AttackResult(attempts=dict(self.attempts), ended=dict(self.ended))

    async def _repeat(self, name: str, attack: Attack) -> None:
        while True:
            self.attempts[name] += 1
            with contextlib.suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                await attack(self)
            self.ended[name] += 1
            await trio.sleep(PAUSE_SECONDS)

    @contextlib.asynccontextmanager
    async def connect(self, port: int) -> AsyncIterator[trio.SocketStream]:
        """Connect from the attackers' address."""
        stream = await trio.open_tcp_stream(self.load.host, port, local_address=self.load.source)
        try:
            yield stream
        finally:
            await trio.aclose_forcefully(stream)

    async def request(self, head: str, body: bytes = b"", *, times: int = 1) -> None:
        """Send a request whose body is `times` the piece, and read until the server closes."""
        text = f"{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body) * times}\r\n\r\n"
        async with self.connect(self.load.http_port) as stream:
            await stream.send_all(text.encode())
            for _ in range(times):
                await stream.send_all(body)
            await read_all(stream)


async def read_all(stream: trio.SocketStream) -> None:
    """Read until the peer closes."""
    while await stream.receive_some():
        pass


async def large_form(peers: Attackers) -> None:
    """Send a form of 16 MiB with four million fields."""
    head = f"POST /api/session HTTP/1.1\r\nContent-Type: {FORM}"
    await peers.request(head, PIECE, times=LARGE_BYTES // len(PIECE))


async def large_json(peers: Attackers) -> None:
    """Send 16 MiB of empty lists where a user is expected."""
    piece = b"[]," * 4096
    await peers.request("POST /api/users HTTP/1.1", piece, times=LARGE_BYTES // len(piece))


async def half_request(peers: Attackers) -> None:
    """Send half of a request and wait."""
    async with peers.connect(peers.load.http_port) as stream:
        await stream.send_all(b"GET /api/server HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 32_000)
        await read_all(stream)


async def slow_headers(peers: Attackers) -> None:
    """Send a header byte by byte."""
    async with peers.connect(peers.load.http_port) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nX: ")
        while True:
            await stream.send_all(b"a")
            await trio.sleep(0.2)


async def http_2(peers: Attackers) -> None:
    """Begin HTTP/2."""
    async with peers.connect(peers.load.http_port) as stream:
        await stream.send_all(HTTP2_PREFACE)
        await read_all(stream)


async def upgrade(peers: Attackers) -> None:
    """Offer to upgrade to HTTP/2."""
    upgrades = "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAAAAAAIAAAAA"
    await peers.request(f"GET /api/server HTTP/1.1\r\n{upgrades}")


async def registration(peers: Attackers) -> None:
    """Register a user."""
    number = peers.attempts["registration"]
    body = b'{"name":"x","email":"x%d@example.org","password":"four random words"}' % number
    await peers.request("POST /api/users HTTP/1.1\r\nContent-Type: application/json", body)


async def guess(peers: Attackers) -> None:
    """Guess a password."""
    body = b"email=x%d%%40example.org&password=wrong" % peers.attempts["guess"]
    await peers.request(f"POST /api/session HTTP/1.1\r\nContent-Type: {FORM}", body)


async def web_socket(peers: Attackers) -> None:
    """Ask for a WebSocket without a login."""
    upgrades = (
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    )
    async with peers.connect(peers.load.http_port) as stream:
        head = f"GET /api/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n{upgrades}\r\n\r\n"
        await stream.send_all(head.encode())
        await read_all(stream)


async def unfinished_video(peers: Attackers) -> None:
    """Send 4 MiB of frames of video that never end, for a SIM that no device has."""
    sender = Jt1078Sender("019900000001")
    async with peers.connect(peers.load.media_port) as stream:
        for channel in range(1, 6):
            unit = AccessUnit(channel, H264, True, 0, bytes(900_000))
            packets = sender.encode(unit)
            await stream.send_all(packets[: len(packets) - 1000])
        await read_all(stream)


async def media_garbage(peers: Attackers) -> None:
    """Send 4 MiB that are no media."""
    async with peers.connect(peers.load.media_port) as stream:
        for _ in range(64):
            await stream.send_all(b"01cd" * 16_384)
        await read_all(stream)


async def endless_frame(peers: Attackers) -> None:
    """Send a JT/T 808 frame without an end, then broken ones."""
    async with peers.connect(peers.load.jt808_port) as stream:
        for _ in range(16):
            await stream.send_all(b"~" + b"a" * 65_536 + b"~")
        for _ in range(200):
            await stream.send_all(b"~broken~")
        await read_all(stream)


async def half_position(peers: Attackers) -> None:
    """Send most of a large OsmAnd request and wait."""
    async with peers.connect(peers.load.osmand_port) as stream:
        head = (
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 260000\r\n\r\n"
        )
        await stream.send_all(head + bytes(250_000))
        await read_all(stream)


async def silence(peers: Attackers) -> None:
    """Connect to a device port and say nothing."""
    async with peers.connect(peers.load.jt808_port) as stream:
        await read_all(stream)


ATTACKS: dict[str, tuple[Attack, int]] = {
    "large form": (large_form, 4),
    "large JSON": (large_json, 4),
    "half request": (half_request, 1200),
    "slow headers": (slow_headers, 20),
    "HTTP/2": (http_2, 4),
    "upgrade": (upgrade, 4),
    "registration": (registration, 4),
    "guess": (guess, 4),
    "WebSocket": (web_socket, 4),
    "unfinished video": (unfinished_video, 20),
    "media garbage": (media_garbage, 4),
    "endless frame": (endless_frame, 4),
    "half position": (half_position, 400),
    "silence": (silence, 1000),
}
"""Each attack, and how many peers repeat it at once."""


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=AttackLoad)
    raise_file_limit()
    write_message(Mark("begin"))
    write_message(trio.run(Attackers(load).run))


if __name__ == "__main__":
    main()
