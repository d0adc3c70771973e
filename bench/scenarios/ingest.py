"""1,000 terminals report, and every report is acknowledged after it is stored; with `rules` a second time, by
devices that everything is configured for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

from motorpool.bench.figures import Goal, Line, Plot, Summary
from motorpool.bench.load.clients import Measured, ReportingClients, reporting_clients
from motorpool.bench.load.plan import TerminalLoad
from motorpool.bench.load.program import LoadFailed
from motorpool.bench.measured_server import MeasuredServer, known_devices, open_server
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases.ramp import Tried, find_highest_rate
from motorpool.bench.phases.rules import check_rules, configure_rules
from motorpool.bench.phases.stored import missing_positions
from motorpool.bench.phases.trackers import check_protocol, compare_turns, report_turns, tracker_ids
from motorpool.bench.references import run_echo
from motorpool.bench.server import Server, run_server
from motorpool.bench.usage import Reading, read_process, read_usage

NAME = "ingest"
TITLE = "JT/T 808 positions: throughput beside a bare echo server, paced latency, every position found again"
SERVER = "any"
TURNS = 3
"""Comparisons of servers without and with rules, the middle one of which is reported."""
STEPS = 6 + 2 * TURNS
"""The ramp with `ramp` only, the turns with `protocol` and `rules` only."""
PACED_RATE = 2000.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure echo, saturation and paced load, then look up every acknowledged position."""
    seconds = options.span(10.0)
    if options.protocol is not None:
        check_protocol(options.protocol, udp=options.udp)
    if options.rules and options.server is not None:
        raise BenchError("--rules measures beside a server without them, which the bench starts")
    step("echo")
    with run_echo() as (port, pid):
        load = _load("127.0.0.1", port, tuple(map(str, range(options.terminals))), mode="echo")
        with _clients(load, partial(read_process, pid), options) as clients:
            echo = _warm(clients, seconds)
    summary.add(NAME, "echo", echo.rate, "messages/s")
    summary.note_client("echo", echo.result.cpu_share)
    with ExitStack() as stack:
        nodes = {"MOTORPOOL_NODES": str(options.nodes)}
        server = stack.enter_context(open_server(options, partial(run_server, nodes)))
        phones = server.phones("131", options.terminals)
        stack.enter_context(known_devices(server, phones))
        if isinstance(server, Server):
            _note_durability(summary, server)
        load = _load(server.host, server.jt808_port, phones)
        with _clients(load, partial(read_usage, server), options) as clients:
            step("saturation")
            saturated = _warm(clients, seconds)
            _report_saturated(summary, saturated, echo)
            step(f"{PACED_RATE:,.0f} a second")
            last = paced = _warm(clients, seconds, PACED_RATE)
            _report_paced(summary, server, paced)
            if options.ramp:
                step(f"the highest rate within {options.bound_ms:g} ms")
                tried = find_highest_rate(clients, options.bound_ms, saturated.rate, options.span(2.0))
                _report_ramp(summary, tried, options.bound_ms)
                last = tried[-1].measured
        step("looking for every acknowledged position")
        _report_stored(summary, server, load, last)
        if options.protocol is not None:
            _compare_protocol(options, summary, server, options.protocol, seconds / 2, step)
        if options.rules:
            step("configuring rules")
            settings = {**nodes, "MOTORPOOL_QUOTAS_DEVICE_GEOFENCES": "1000"}
            with_rules = stack.enter_context(run_server(settings))
            _compare(options, summary, server, with_rules, seconds / 2, step)


def _compare(
    options: Options, summary: Summary, plain: MeasuredServer, ruled: Server, seconds: float, step: Step
) -> None:
    """Measure by turns a server without rules and one with them, so that a slower machine slows down both."""
    phones = ruled.phones("133", options.terminals)
    configure_rules(ruled, phones)
    without: list[Measured] = []
    with_rules: list[Measured] = []
    # Later than what the former loads sent, so that every position is the latest one.
    loads = [
        (
            _load(plain.host, plain.jt808_port, plain.phones("131", options.terminals), hours=8),
            plain,
            without,
        ),
        (_load(ruled.host, ruled.jt808_port, phones), ruled, with_rules),
    ]
    with ExitStack() as stack:
        sides = [
            (stack.enter_context(_clients(load, partial(read_usage, server), options)), turns)
            for load, server, turns in loads
        ]
        for turn in range(1, TURNS + 1):
            step(f"saturation without and with rules, {turn} of {TURNS}")
            for clients, turns in sides:
                turns.append(_warm(clients, seconds))
    check_rules(ruled, phones)
    _report_ruled(summary, ruled, loads[1][0], with_rules, without)


def _compare_protocol(
    options: Options, summary: Summary, server: MeasuredServer, protocol: str, seconds: float, step: Step
) -> None:
    """Measure JT/T 808 and another protocol by turns, and look up what was acknowledged."""
    ids = tracker_ids(protocol, 4, options.terminals)
    other = _load(server.host, server.port(protocol), ids, protocol=protocol, udp=options.udp)
    plain = _load(server.host, server.jt808_port, server.phones("131", options.terminals), hours=16)
    with ExitStack() as stack:
        stack.enter_context(known_devices(server, ids))
        read = partial(read_usage, server)
        clients = stack.enter_context(_clients(other, read, options))
        plain_clients = stack.enter_context(_clients(plain, read, options))
        turns, others = compare_turns(
            protocol, lambda _: _warm(plain_clients, seconds), lambda _: _warm(clients, seconds), step
        )
        label = f"{protocol} over UDP" if options.udp else protocol
        report_turns(NAME, summary, label, turns, others)
        for each in turns:
            summary.note_client(f"throughput of {label}", each.result.cpu_share)
        summary.add(NAME, f"acknowledged of {label}", sum(turns[-1].result.answered), "positions")
        missing = missing_positions(server, ids, other.first_epoch, turns[-1].result.answered)
    summary.add(NAME, f"acknowledged of {label} but not stored", missing, "positions", goals=(Goal(0),))


def _report_ruled(
    summary: Summary,
    server: Server,
    load: TerminalLoad,
    ruled: Sequence[Measured],
    plain: Sequence[Measured],
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
    add(" server CPU", "µs/message", lambda each: each.server_cpu_us, most_cpu)
    add(" database CPU", "µs/message", lambda each: each.database_cpu_us)
    rates = ", ".join(
        f"{each.rate:,.0f} of {before.rate:,.0f}" for each, before in zip(ruled, plain, strict=True)
    )
    summary.note(f"messages/s with rules of those without, by turns: {rates}")
    for measured in ruled:
        summary.note_client("throughput with rules", measured.result.cpu_share)
    acknowledged = sum(ruled[-1].result.answered)
    events = int(server.fetch_sql("select count(*) from events")[0][0])
    summary.add(NAME, "acknowledged with rules", acknowledged, "positions")
    summary.add(NAME, "events with rules", events, "events")
    missing = missing_positions(server, load.phones, load.first_epoch, ruled[-1].result.answered)
    summary.add(NAME, "acknowledged with rules but not stored", missing, "positions", goals=(Goal(0),))


def _report_saturated(summary: Summary, saturated: Measured, echo: Measured) -> None:
    must = (Goal(12_000, at_least=True), Goal(0.5, at_least=True, of_ratio=True))
    rate = saturated.rate
    summary.add(NAME, "throughput", rate, "messages/s", reference="echo", beside=echo.rate, goals=must)
    summary.add_latencies(NAME, "throughput", saturated.result.latencies)
    summary.add(
        NAME,
        "throughput server CPU",
        saturated.server_cpu_us,
        "µs/message",
        reference="echo",
        beside=echo.server_cpu_us,
    )
    summary.add(NAME, "throughput database CPU", saturated.database_cpu_us, "µs/message")
    summary.add(NAME, "throughput client CPU", saturated.client_cpu_us, "µs/message")
    summary.note_client("throughput", saturated.result.cpu_share)


def _report_paced(summary: Summary, server: MeasuredServer, paced: Measured) -> None:
    summary.add(NAME, "paced rate", paced.rate, "messages/s")
    summary.add_latencies(NAME, "paced", paced.result.latencies, goals=(Goal(25),))
    summary.add(NAME, "paced server CPU", paced.server_cpu_us, "µs/message", goals=(Goal(150),))
    summary.add(NAME, "paced database CPU", paced.database_cpu_us, "µs/message")
    summary.add(NAME, "memory of the server", server.resident_bytes() / 1e6, "MB")
    summary.add(NAME, "memory of the database", server.database_bytes() / 1e6, "MB")
    summary.add(NAME, "memory of the client", paced.result.resident_bytes / 1e6, "MB")
    summary.note_client("paced", paced.result.cpu_share, paced.result.lag_ms, paced.result.p99_ms)


def _report_ramp(summary: Summary, tried: Sequence[Tried], bound_ms: float) -> None:
    best = max((each.rate for each in tried if each.is_kept), default=0.0)
    if best:
        summary.add(NAME, f"highest rate within {bound_ms:g} ms", best, "messages/s")
    else:
        reason = "no rate keeps the bound"
        summary.add_absent(NAME, f"highest rate within {bound_ms:g} ms", "messages/s", reason)
    points = sorted((each.rate, each.measured.result.p99_ms) for each in tried)
    lines = [Line("p99", points), Line("bound", [(points[0][0], bound_ms), (points[-1][0], bound_ms)])]
    summary.plots.append(Plot(title=f"{NAME}: ramp", x="messages/s that are due", y="ms", lines=lines))
    for each in tried:
        result = each.measured.result
        summary.note_client(f"{each.rate:,.0f}/s", result.cpu_share, result.lag_ms, result.p99_ms)


def _report_stored(summary: Summary, server: MeasuredServer, load: TerminalLoad, last: Measured) -> None:
    missing = missing_positions(server, load.phones, load.first_epoch, last.result.answered)
    summary.add(NAME, "acknowledged", sum(last.result.answered), "positions")
    summary.add(NAME, "acknowledged but not stored", missing, "positions", goals=(Goal(0),))
    summary.add(NAME, "rejected", last.result.rejected, "positions", goals=(Goal(0),))
    summary.add(NAME, "never acknowledged", last.result.unanswered, "positions", goals=(Goal(0),))


def _load(
    host: str,
    port: int,
    phones: tuple[str, ...],
    *,
    mode: str = "",
    hours: int = 24,
    protocol: str = "jt808",
    udp: bool = False,
) -> TerminalLoad:
    """Return a load whose device times begin so many hours ago, so that none is in the future."""
    first = (datetime.now(UTC) - timedelta(hours=hours)).replace(microsecond=0)
    return TerminalLoad(
        host=host,
        port=port,
        phones=phones,
        mode=mode,
        first_epoch=first.timestamp(),
        protocol=protocol,
        udp=udp,
    )


@contextmanager
def _clients(load: TerminalLoad, read: Callable[[], Reading], options: Options) -> Iterator[ReportingClients]:
    try:
        with reporting_clients(load, read, options.clients) as clients:
            yield clients
    except LoadFailed as error:
        raise BenchError(f"port {load.port}: {error}") from error


def _warm(clients: ReportingClients, seconds: float, rate: float = 0.0) -> Measured:
    """Measure after a warm-up."""
    clients.measure(min(2.0, seconds), rate)
    return clients.measure(seconds, rate)


def _note_durability(summary: Summary, server: Server) -> None:
    """Note the durability settings of the database."""
    started_with = server.database_settings()
    names = ("fsync", "full_page_writes", "synchronous_commit")
    settings = ", ".join(f"{name} {started_with.get(name, 'as PostgreSQL has it')}" for name in names)
    summary.note(f"database: {settings}")
