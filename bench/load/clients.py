"""The clients of one load, spread over processes, as if they were in one."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import msgspec

from motorpool.bench.latencies import Latencies
from motorpool.bench.load.plan import Mark, RequestLoad, RequestResult, Span, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadProgram, run_program
from motorpool.bench.usage import Reading, Usage, usage_between

LOGIN_SECONDS = 120.0
"""Time for connecting and logging in all clients."""
ANSWER_SECONDS = 45.0
"""Time for the last answers."""
AHEAD_SECONDS = 0.05
"""From the request for a span to its start, so that all processes have read it."""


class Measured(msgspec.Struct, frozen=True):
    """What the terminals of a load measured in a span, and what the server used meanwhile."""

    result: TerminalResult
    usage: Usage

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.result.answers / self.result.seconds

    @property
    def server_cpu_us(self) -> float:
        """CPU microseconds of the server for each message."""
        return self.usage.server_us(self.result.answers)

    @property
    def client_cpu_us(self) -> float:
        """CPU microseconds of the clients for each message."""
        return self.result.cpu_seconds / max(1, self.result.answers) * 1e6

    @property
    def database_cpu_us(self) -> float:
        """CPU microseconds of its database for each message."""
        return self.usage.database_us(self.result.answers)


class ReportingClients:
    """Terminals or trackers that are connected to a server."""

    def __init__(self, programs: list[LoadProgram], phones: list[int], read: Callable[[], Reading]) -> None:
        """`phones` are the numbers of clients of each program."""
        self._programs = programs
        self._shares = [count / sum(phones) for count in phones]
        self._read = read

    def measure(self, seconds: float, rate: float = 0.0) -> Measured:
        """Run a span in all processes at the same time; `rate` as in Span, of all together.

        Raises:
            LoadFailed: a process ended, or was too slow.
        """
        start = self.begin(seconds, rate)
        time.sleep(max(0.0, start - time.perf_counter()))
        before = self._read()
        for program in self._programs:
            program.wait_for(Mark, seconds + ANSWER_SECONDS, lambda mark: mark.name == "end")
        used = usage_between(before, self._read())
        return Measured(self.finish(), used)

    def begin(self, seconds: float, rate: float = 0.0) -> float:
        """Have a span begin, and return when it does, by `time.perf_counter`."""
        start = time.perf_counter() + AHEAD_SECONDS
        for program, share in zip(self._programs, self._shares, strict=True):
            span = Span(seconds=seconds, rate=rate * share, start=start)
            program.send_line(msgspec.json.encode(span).decode())
        return start

    def finish(self) -> TerminalResult:
        """Return the result of the span that has begun, once it is over.

        Raises:
            LoadFailed: a process ended, or was too slow.
        """
        return _together([each.wait_for(TerminalResult, 600.0) for each in self._programs])


@contextmanager
def reporting_clients(
    load: TerminalLoad, read: Callable[[], Reading], processes: int = 1
) -> Iterator[ReportingClients]:
    """Connect and log in the clients of a load, spread over processes; `read` reads the server's counters.

    Raises:
        LoadFailed: they cannot connect, or not in time.
    """
    program_name = "terminals" if load.protocol == "jt808" else "trackers"
    with ExitStack() as stack:
        shares = parts(len(load.phones), processes)
        programs = []
        for first, count in shares:
            own = slice(first, first + count)
            part = msgspec.structs.replace(load, phones=load.phones[own], origins=load.origins[own])
            programs.append(stack.enter_context(run_program(program_name, part)))
        for program in programs:
            program.wait_for(Mark, LOGIN_SECONDS, lambda mark: mark.name == "ready")
        yield ReportingClients(programs, [count for _, count in shares], read)


def measure_requests(
    load: RequestLoad, read: Callable[[], Reading], processes: int = 1
) -> tuple[RequestResult, Usage]:
    """Run a load of requests, with connections and rate spread over processes; return what the server used.

    Raises:
        LoadFailed: a process ended, or was too slow.
    """
    with ExitStack() as stack:
        shares = parts(load.connections, processes)
        programs = [
            stack.enter_context(
                run_program(
                    "requests",
                    msgspec.structs.replace(
                        load, connections=count, rate=load.rate * count / load.connections
                    ),
                )
            )
            for _, count in shares
        ]
        for program in programs:
            program.wait_for(Mark, LOGIN_SECONDS, lambda mark: mark.name == "begin")
        before = read()
        for program in programs:
            program.wait_for(Mark, load.seconds + ANSWER_SECONDS, lambda mark: mark.name == "end")
        used = usage_between(before, read())
        results = [program.wait_for(RequestResult, ANSWER_SECONDS) for program in programs]
    return RequestResult(
        seconds=max(each.seconds for each in results),
        answers=sum(each.answers for each in results),
        failures=sum(each.failures for each in results),
        body_bytes=max(each.body_bytes for each in results),
        latencies=Latencies.total(each.latencies for each in results),
        cpu_share=max(each.cpu_share for each in results),
        reasons=tuple(reason for each in results for reason in each.reasons)[:5],
    ), used


def parts(count: int, processes: int) -> list[tuple[int, int]]:
    """Split a number of clients; return the first and the number of each part."""
    processes = max(1, min(processes, count))
    edges = [count * number // processes for number in range(processes + 1)]
    return [(first, end - first) for first, end in pairwise(edges)]


def _together(results: list[TerminalResult]) -> TerminalResult:
    return TerminalResult(
        seconds=max(each.seconds for each in results),
        answers=sum(each.answers for each in results),
        rejected=sum(each.rejected for each in results),
        late=sum(each.late for each in results),
        lag_ms=max(each.lag_ms for each in results),
        unanswered=sum(each.unanswered for each in results),
        latencies=Latencies.total(each.latencies for each in results),
        # The busiest is what limits them.
        cpu_share=max(each.cpu_share for each in results),
        cpu_seconds=sum(each.cpu_seconds for each in results),
        resident_bytes=sum(each.resident_bytes for each in results),
        answered=tuple(number for each in results for number in each.answered),
        message_bytes=results[0].message_bytes,
        start=min(each.start for each in results),
        first_place=results[0].first_place,
        first_numbers=tuple(number for each in results for number in each.first_numbers),
    )
