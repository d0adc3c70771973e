"""WebSockets at several servers: when each of them receives the positions of devices.

`python -m motorpool.bench.load.sockets` reads a SocketLoad from standard input and writes a Mark when all are
open, and a SocketResult.
"""

import gc
import sys
import time
from datetime import datetime

import msgspec

from motorpool.bench.load.output import write_message
from motorpool.bench.load.plan import Arrival, Mark, SocketLoad, SocketResult
from motorpool.bench.load.watching_socket import WatchingSocket

OPEN_SECONDS = 30.0


class _Position(msgspec.Struct, rename="camel"):
    device_id: int
    device_time: datetime


class _Update(msgspec.Struct):
    positions: list[_Position] = []


def arrivals(received: list[tuple[float, str]]) -> tuple[Arrival, ...]:
    """Return the positions of messages that came on a WebSocket."""
    since_1970 = time.time() - time.perf_counter()
    return tuple(
        Arrival(position.device_id, position.device_time.timestamp(), instant + since_1970)
        for instant, text in received
        for position in msgspec.json.decode(text, type=_Update).positions
    )


def run_load(load: SocketLoad) -> SocketResult:
    """Read for the time of the load. Raises OSError if a server refuses."""
    sockets = [
        WatchingSocket(load.host, port, ("Authorization", f"Bearer {load.token}"), '"positions"')
        for port in load.ports
    ]
    for each in sockets:
        each.start()
        if not each.await_acceptance(OPEN_SECONDS):
            raise ConnectionError(f"no WebSocket: {each.error or 'not accepted'}")
    write_message(Mark("ready"))
    time.sleep(load.seconds)
    return SocketResult(arrivals=tuple(arrivals(list(each.received)) for each in sockets))


def main() -> None:
    """Read the load, run it, write the result."""
    load = msgspec.json.decode(sys.stdin.readline(), type=SocketLoad)
    # A collection would count as the server's latency.
    gc.disable()
    write_message(run_load(load))


if __name__ == "__main__":
    main()
