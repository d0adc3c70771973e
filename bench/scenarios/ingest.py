"""1,000 terminals report, and every report is acknowledged after it is stored; with `rules` a second time, by
devices that everything is configured for.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import msgspec

from motorpool.bench import machine
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.messages import LocationMessages
from motorpool.bench.load.plan import Mark, TerminalLoad, TerminalResult
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.rules import check_rules, configure_rules
from motorpool.bench.phases.trackers import check_protocol, compare_turns, report_turns, tracker_ids
from motorpool.bench.references import run_echo
from motorpool.bench.server import Server, run_server
from motorpool.codecs.devices import CODECS

NAME = "ingest"
TITLE = "JT/T 808 positions: throughput beside a bare echo server, paced latency, every position found again"
TURNS = 3
"""Comparisons of servers without and with rules, the middle one of which is reported."""
STEPS = 5 + 2 * TURNS
"""The last with `rules` only, and the turns of another protocol with `protocol` only."""
PACED_RATE = 2000.0
FULL_CLIENT = 0.9
"""Share of a core above which the client, not the server, limits the measurement."""
LOGIN_SECONDS = 120.0
"""Time for connecting and registering all terminals of a load."""
ANSWER_SECONDS = 45.0
"""Time for the last answers."""


class Measured(msgspec.Struct, frozen=True):
    """A load, its result, and the CPU that the server used."""

    load: TerminalLoad
    result: TerminalResult
    server_cpu_seconds: float
    database_cpu_seconds: float

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.result.answers / self.result.seconds

    @property
    def server_cpu_us(self) -> float:
        """CPU microseconds of the server for each message."""
        return self.cpu_us(self.server_cpu_seconds)

    def cpu_us(self, seconds: float) -> float:
        """Return CPU microseconds for each message."""
        return seconds / max(1, self.result.answers) * 1e6


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure echo, saturation and paced load, then look up every acknowledged position."""
    seconds = options.span(10.0)
    if options.protocol is not None:
        check_protocol(options.protocol, udp=options.udp)
    step("echo")
    with run_echo() as (port, pid):
        echo = _measure(
            "127.0.0.1", port, _phones(0, options.terminals), "echo", seconds, _cpu_of_process(pid)
        )
    summary.add(NAME, "echo", echo.rate, "messages/s")
    _note_full_client(summary, echo, "echo")
    with ExitStack() as servers:
        server = servers.enter_context(run_server())
        _note_durability(summary, server)
        step("saturation")
        measure = partial(
            _measure, server.host, server.jt808_port, seconds=seconds, cpu=_cpu_of_server(server)
        )
        saturated = measure(_phones(1, options.terminals), "saturate")
        _report_saturated(summary, saturated, echo)
        step(f"{PACED_RATE:,.0f} a second")
        paced = measure(_phones(2, options.terminals), "paced")
        _report_paced(summary, paced)
        step("looking for every acknowledged position")
        _report_stored(summary, server, (saturated, paced))
        if options.protocol is not None:
            _compare_protocol(options, summary, server, options.protocol, seconds / 2, step)
        if options.rules:
            step("configuring rules")
            with_rules = servers.enter_context(run_server({"MOTORPOOL_QUOTAS_DEVICE_GEOFENCES": "1000"}))
            _compare(options, summary, server, with_rules, seconds / 2, step)


def _compare(
    options: Options, summary: Summary, plain: Server, ruled: Server, seconds: float, step: Step
) -> None:
    """Measure by turns a server without rules and one with them, so that a slower machine slows down both."""
    phones = _phones(3, options.terminals)
    configure_rules(ruled, phones)
    without: list[Measured] = []
    with_rules: list[Measured] = []
    sides = (plain, _phones(1, options.terminals), without), (ruled, phones, with_rules)
    for turn in range(1, TURNS + 1):
        step(f"saturation without and with rules, {turn} of {TURNS}")
        # An hour later than the turn before, so that no position is a duplicate.
        later = timedelta(hours=turn)
        for server, devices, turns in sides:
            port, cpu = server.jt808_port, _cpu_of_server(server)
            turns.append(_measure(server.host, port, devices, "saturate", seconds, cpu, later=later))
    check_rules(ruled, phones)
    _report_ruled(summary, ruled, with_rules, without)


def _compare_protocol(
    options: Options, summary: Summary, server: Server, protocol: str, seconds: float, step: Step
) -> None:
    """Measure JT/T 808 and another protocol by turns, and look up what was acknowledged."""
    measure = partial(_measure, server.host, mode="saturate", seconds=seconds, cpu=_cpu_of_server(server))
    port = CODECS[protocol].port + server.offset
    phones = _phones(1, options.terminals)
    ids = tracker_ids(protocol, 4, options.terminals)
    measured: list[Measured] = []

    def measure_other(turn: int) -> Measured:
        later = timedelta(hours=turn + 12)
        found = measure(port, ids, later=later, protocol=protocol, udp=options.udp)
        measured.append(found)
        return found

    turns, others = compare_turns(
        protocol,
        lambda turn: measure(server.jt808_port, phones, later=timedelta(hours=turn + 12)),
        measure_other,
        step,
    )
    label = f"{protocol} over UDP" if options.udp else protocol
    report_turns(NAME, summary, label, turns, others)
    for each in measured:
        _note_full_client(summary, each, f"throughput of {label}")
    acknowledged = sum(sum(each.result.answered) for each in measured)
    missing = sum(_missing(server, each) for each in measured)
    summary.add(NAME, f"acknowledged of {label}", acknowledged, "positions")
    summary.add(NAME, f"acknowledged of {label} but not stored", missing, "positions", goals=(Goal(0),))


def _report_ruled(
    summary: Summary, server: Server, ruled: Sequence[Measured], plain: Sequence[Measured]
) -> None:
    """Report the turn with the middle of the ratios, each to the turn without rules before it."""

    def add(metric: str, unit: str, value: Callable[[Measured], float], *goals: Goal) -> None:
        pairs = [(value(each), value(before)) for each, before in zip(ruled, plain, strict=True)]
        pairs.sort(key=lambda pair: pair[0] / pair[1] if pair[1] else 0.0)
        middle, beside = pairs[len(pairs) // 2]
        name = f"throughput with rules{metric}"
        summary.add(NAME, name, middle, unit, reference="without", beside=beside, goals=goals)

    most_cpu = Goal(2, of_ratio=True)
    add("", "messages/s", lambda each: each.rate, Goal(0.5, at_least=True, of_ratio=True))
    add(" p99", "ms", lambda each: each.result.p99_ms)
    add(" server CPU", "µs/message", lambda each: each.cpu_us(each.server_cpu_seconds), most_cpu)
    add(" database CPU", "µs/message", lambda each: each.cpu_us(each.database_cpu_seconds))
    rates = ", ".join(
        f"{each.rate:,.0f} of {before.rate:,.0f}" for each, before in zip(ruled, plain, strict=True)
    )
    summary.note(f"messages/s with rules of those without, by turns: {rates}")
    for measured in ruled:
        _note_full_client(summary, measured, "throughput with rules")
    acknowledged = sum(sum(measured.result.answered) for measured in ruled)
    events = int(server.fetch_sql("select count(*) from events")[0][0])
    summary.add(NAME, "acknowledged with rules", acknowledged, "positions")
    summary.add(NAME, "events with rules", events, "events")
    missing = sum(_missing(server, measured) for measured in ruled)
    summary.add(NAME, "acknowledged with rules but not stored", missing, "positions", goals=(Goal(0),))


def _report_saturated(summary: Summary, saturated: Measured, echo: Measured) -> None:
    must = (Goal(12_000, at_least=True), Goal(0.5, at_least=True, of_ratio=True))
    rate = saturated.rate
    summary.add(NAME, "throughput", rate, "messages/s", reference="echo", beside=echo.rate, goals=must)
    summary.add(NAME, "throughput p50", saturated.result.p50_ms, "ms")
    summary.add(NAME, "throughput p99", saturated.result.p99_ms, "ms")
    summary.add(
        NAME,
        "throughput server CPU",
        saturated.cpu_us(saturated.server_cpu_seconds),
        "µs/message",
        reference="echo",
        beside=echo.cpu_us(echo.server_cpu_seconds),
    )
    _note_full_client(summary, saturated, "throughput")


def _report_paced(summary: Summary, paced: Measured) -> None:
    summary.add(NAME, "paced rate", paced.rate, "messages/s")
    summary.add(NAME, "paced p50", paced.result.p50_ms, "ms")
    summary.add(NAME, "paced p99", paced.result.p99_ms, "ms", goals=(Goal(25),))
    server, database = paced.cpu_us(paced.server_cpu_seconds), paced.cpu_us(paced.database_cpu_seconds)
    summary.add(NAME, "paced server CPU", server, "µs/message", goals=(Goal(150),))
    summary.add(NAME, "paced database CPU", database, "µs/message")


def _report_stored(summary: Summary, server: Server, runs: tuple[Measured, ...]) -> None:
    acknowledged = sum(sum(measured.result.answered) for measured in runs)
    missing = sum(_missing(server, measured) for measured in runs)
    rejected = sum(measured.result.rejected for measured in runs)
    summary.add(NAME, "acknowledged", acknowledged, "positions")
    summary.add(NAME, "acknowledged but not stored", missing, "positions", goals=(Goal(0),))
    summary.add(NAME, "rejected", rejected, "positions", goals=(Goal(0),))


def _phones(group: int, count: int) -> tuple[str, ...]:
    return tuple(f"13{group}{number:08d}" for number in range(1, count + 1))


def _cpu_of_process(pid: int) -> Callable[[], tuple[float, float]]:
    return lambda: (machine.cpu_seconds(pid), 0.0)


def _cpu_of_server(server: Server) -> Callable[[], tuple[float, float]]:
    return lambda: (server.cpu_seconds(), server.database_cpu_seconds())


def _measure(
    host: str,
    port: int,
    phones: tuple[str, ...],
    mode: str,
    seconds: float,
    cpu: Callable[[], tuple[float, float]],
    *,
    later: timedelta = timedelta(0),
    protocol: str = "jt808",
    udp: bool = False,
) -> Measured:
    """Run a load; `cpu` returns what server and database have used so far, `later` shifts the device times.

    Raises:
        BenchError: the client failed.
    """
    # Device times of a day ago, so that none is in the future.
    first = (datetime.now(UTC) - timedelta(days=1) + later).replace(microsecond=0)
    load = TerminalLoad(
        host=host,
        port=port,
        phones=phones,
        mode=mode,
        seconds=seconds,
        warm_seconds=min(2.0, seconds),
        rate=PACED_RATE,
        first_epoch=first.timestamp(),
        protocol=protocol,
        udp=udp,
    )
    try:
        with run_program("terminals" if protocol == "jt808" else "trackers", load) as program:
            program.wait_for(Mark, LOGIN_SECONDS + 2 * seconds, lambda mark: mark.name == "begin")
            before = cpu()
            program.wait_for(Mark, seconds + ANSWER_SECONDS, lambda mark: mark.name == "end")
            after = cpu()
            result = program.wait_for(TerminalResult, ANSWER_SECONDS)
    except LoadFailed as error:
        raise BenchError(f"{mode}: {error}") from error
    return Measured(load, result, after[0] - before[0], after[1] - before[1])


def _missing(server: Server, measured: Measured) -> int:
    """Count the positions that were acknowledged and are not found over HTTP."""
    load = measured.load
    messages = LocationMessages(datetime.fromtimestamp(load.first_epoch, UTC))
    with server.client() as client:
        ids = {
            device["uniqueId"]: device["id"]
            for device in client.get("/devices", params={"all": "true"}).json()
        }

        def missing_of(place: int) -> int:
            answered = measured.result.answered[place]
            expected = {messages.device_time(number) for number in range(answered)}
            if not expected:
                return 0
            return len(expected - _stored_times(client, ids[load.phones[place]], messages, answered))

        # Four at once keep the server busy without a queue.
        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(missing_of, range(len(load.phones))))


def _stored_times(
    client: httpx.Client, device_id: int, messages: LocationMessages, count: int
) -> set[datetime]:
    span: dict[str, str | int] = {
        "deviceId": device_id,
        "from": _iso(messages.first - timedelta(seconds=1)),
        "to": _iso(messages.device_time(count)),
    }
    answer = client.get("/positions", params=span)
    if answer.status_code != 200:
        raise BenchError(f"GET /positions answered {answer.status_code}: {answer.text[:200]}")
    return {datetime.fromisoformat(position["fixTime"]) for position in answer.json()}


def _iso(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def _note_full_client(summary: Summary, measured: Measured, what: str) -> None:
    if measured.result.cpu_share > FULL_CLIENT:
        share = measured.result.cpu_share
        summary.note(f"{what}: the client was at {share:.0%} of a core; the server could do more")


def _note_durability(summary: Summary, server: Server) -> None:
    """Note the durability settings of the database."""
    started_with = server.database_settings()
    names = ("fsync", "full_page_writes", "synchronous_commit")
    settings = ", ".join(f"{name} {started_with.get(name, 'as PostgreSQL has it')}" for name in names)
    summary.note(f"database: {settings}")
