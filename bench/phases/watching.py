"""WebSockets of the API that watch a fleet, spread over processes."""

from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.clients import Measured, parts
from motorpool.bench.load.plan import Mark, WatchedSpan, WatcherLoad, WatcherResult
from motorpool.bench.load.program import LoadProgram, run_program
from motorpool.bench.load.watching_socket import WatchingSocket
from motorpool.bench.measured_server import MeasuredServer
from motorpool.bench.options import NotThereError

OPEN_SECONDS = 120.0
ANSWER_SECONDS = 60.0
PROBE_SECONDS = 30.0


def open_watchers(
    stack: ExitStack, server: MeasuredServer, cookie: str, sockets: int, processes: int = 1
) -> list[LoadProgram]:
    """Open a number of WebSockets of a session, which are closed with the stack.

    Raises:
        NotThereError: the server has none.
        LoadFailed: it does not accept all of them.
    """
    try:
        probe = WatchingSocket(server.host, server.http_port, ("Cookie", cookie), '"positions"')
    except OSError as error:
        raise NotThereError(f"a WebSocket: {error}") from error
    probe.start()
    is_accepted = probe.await_acceptance(PROBE_SECONDS)
    probe.close()
    if not is_accepted:
        raise NotThereError(f"a WebSocket at /api/socket: {probe.error or 'not accepted'}")
    programs = [
        stack.enter_context(
            run_program(
                "watchers",
                WatcherLoad(host=server.host, port=server.http_port, cookie=cookie, sockets=count),
            )
        )
        for _, count in parts(sockets, processes)
    ]
    for program in programs:
        program.wait_for(Mark, OPEN_SECONDS)
    return programs


def watched(
    programs: Sequence[LoadProgram],
    sent: Measured,
    rate: float,
    device_ids: tuple[int, ...],
    first_epoch: float,
) -> WatcherResult:
    """Return when the positions that one process of terminals has sent at a rate came at the WebSockets.

    Raises:
        LoadFailed: a program ended, or was too slow.
    """
    span = WatchedSpan(
        start=sent.result.start,
        rate=rate,
        device_ids=device_ids,
        first_numbers=sent.result.first_numbers,
        numbers=sent.result.answered,
        first_place=sent.result.first_place,
        first_epoch=first_epoch,
    )
    for program in programs:
        program.send_line(msgspec.json.encode(span).decode())
    results = [program.wait_for(WatcherResult, ANSWER_SECONDS) for program in programs]
    return WatcherResult(
        latencies=Latencies.total(each.latencies for each in results),
        passed_over=sum(each.passed_over for each in results),
        missing=sum(each.missing for each in results),
        lost=sum(each.lost for each in results),
        cpu_share=max(each.cpu_share for each in results),
    )
