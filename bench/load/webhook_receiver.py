"""Receives the webhooks of tickets, and checks that each message comes once and in order.

`python -m motorpool.bench.load.webhook_receiver` reads a WebhookLoad from standard input, writes the Mark
"ready", and a WebhookResult when it is stopped by another line.
"""

import sys
import time
from contextlib import suppress

import msgspec
import trio

from motorpool.bench.load.output import raise_file_limit, write_message
from motorpool.bench.load.plan import Mark, WebhookLoad, WebhookResult

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
MAX_MESSAGE_BYTES = 1 << 20


class _Data(msgspec.Struct, rename="camel"):
    ticket_id: int
    sequence: int


class _Body(msgspec.Struct):
    data: _Data


class WebhookReceiver:
    """Answers every request with 200 and counts what it was sent."""

    def __init__(self) -> None:
        self._ids: set[bytes] = set()
        self._sequences: dict[int, int] = {}
        self._repeated = 0
        self._out_of_order = 0

    def result(self, cpu_share: float) -> WebhookResult:
        """Return what has been received so far."""
        return WebhookResult(
            messages=len(self._ids),
            repeated=self._repeated,
            out_of_order=self._out_of_order,
            cpu_share=cpu_share,
        )

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve a connection until its client closes it."""
        received = bytearray()
        with suppress(trio.BrokenResourceError):
            while content := await stream.receive_some(64 * 1024):
                received += content
                while (end := _message_end(received)) is not None:
                    self._count(bytes(received[:end]))
                    del received[:end]
                    await stream.send_all(ANSWER)
                if len(received) > MAX_MESSAGE_BYTES:
                    return

    def _count(self, message: bytes) -> None:
        head, _, body = message.partition(b"\r\n\r\n")
        number = _header(head, b"webhook-id")
        if number in self._ids:
            self._repeated += 1
            return
        self._ids.add(number)
        data = msgspec.json.decode(body, type=_Body).data
        if data.sequence != self._sequences.get(data.ticket_id, 0) + 1:
            self._out_of_order += 1
        self._sequences[data.ticket_id] = data.sequence


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        field, _, value = line.partition(b":")
        if field.strip().lower() == name:
            return value.strip()
    return b""


def _message_end(received: bytearray) -> int | None:
    """Return where the first request ends; None while it is not complete."""
    head_end = received.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    end = head_end + 4 + int(_header(bytes(received[:head_end]), b"content-length") or 0)
    return end if len(received) >= end else None


async def main(load: WebhookLoad) -> None:
    """Receive until the parent requests the stop."""
    receiver = WebhookReceiver()
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(load.port, host=load.host)
        nursery.start_soon(trio.serve_listeners, receiver.serve, listeners)
        begun, used = time.perf_counter(), time.process_time()
        write_message(Mark("ready"))
        await trio.to_thread.run_sync(sys.stdin.readline)
        share = (time.process_time() - used) / (time.perf_counter() - begun)
        write_message(receiver.result(share))
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    raise_file_limit()
    trio.run(main, msgspec.json.decode(sys.stdin.readline(), type=WebhookLoad))
