"""`motorpool bench`: runs scenarios, shows a table, writes the figures as JSON and HTML, compares."""

import argparse
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from motorpool.bench import baseline, machine
from motorpool.bench.comparison import Change
from motorpool.bench.figures import Figure, Summary
from motorpool.bench.jobs.budgets import NUMBERS
from motorpool.bench.measured_server import log_in
from motorpool.bench.options import BenchError, NotThereError, Options
from motorpool.bench.page import write_page
from motorpool.bench.scenarios import DEFAULT, DEFAULT_SECONDS, names, scenario
from motorpool.bench.sides import check_sides, compare_sides, is_address
from motorpool.bench.tables import change_table, figure_table
from motorpool.codecs.devices import CODECS

EMAIL, PASSWORD = "MOTORPOOL_BENCH_EMAIL", "MOTORPOOL_BENCH_PASSWORD"
T = TypeVar("T", int, float)
INTERRUPTED = 130
"""Exit code after Ctrl+C."""
_OPTIONS_OF = {
    "ramp": ("ingest",),
    "rules": ("ingest",),
    "nodes": ("ingest",),
    "udp": ("ingest",),
    "protocol": ("ingest", "trips"),
    "kinds": ("trips",),
    "jobs": ("console",),
    "nats": ("servers",),
    "drills": ("servers",),
}
"""Options that change nothing without one of these scenarios."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "scenarios",
        nargs="*",
        metavar="SCENARIO",
        help=f"what to measure (see --list); default: {' '.join(DEFAULT)}, within 15 minutes",
    )
    parser.add_argument("--list", action="store_true", help="name the scenarios and end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write figures and plots there as one page")
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="measure A and B by turns: addresses, folders with checkouts, or files of earlier --json",
    )
    parser.add_argument("--repeats", type=_count, default=5, help="turns of --compare (default 5)")
    parser.add_argument(
        "--baseline", action="store_true", help="keep the figures as bench/baseline.json, and in the docs"
    )
    parser.add_argument("--seconds", type=_amount, help="length of each measured span (default: by scenario)")
    parser.add_argument(
        "--minutes", type=_amount, default=10.0, help="length of play, soak, fuzz, servers (10)"
    )
    parser.add_argument("--terminals", type=_count, default=1000, help="reporting terminals (default 1000)")
    parser.add_argument(
        "--idle-terminals",
        type=_count,
        default=10_000,
        help="terminals of registration, idle (default 10000)",
    )
    parser.add_argument("--streams", type=_count, default=400, help="live streams (default 400)")
    parser.add_argument("--actors", type=_count, default=100_000, help="idle actors (default 100000)")
    parser.add_argument("--schedules", type=_count, default=10_000, help="scheduled commands (default 10000)")
    parser.add_argument("--tickets", type=_count, default=200, help="tickets created a second (default 200)")
    parser.add_argument(
        "--overdue", type=_count_from_0, default=10_000, help="overdue tickets (default 10000)"
    )
    parser.add_argument(
        "--breaches", type=_count_from_0, default=0, help="tickets that breach within a minute (default 0)"
    )
    parser.add_argument(
        "--soak-streams", type=_count_from_0, default=40, help="live streams of soak (default 40)"
    )
    parser.add_argument(
        "--soak-requests", type=_amount, default=50.0, help="API requests a second of soak (default 50)"
    )
    parser.add_argument(
        "--soak-sockets", type=_count_from_0, default=20, help="WebSockets of soak (default 20)"
    )
    parser.add_argument(
        "--rules",
        action="store_true",
        help="ingest: also with 1000 geofences, ten computed attributes and all other rules",
    )
    parser.add_argument(
        "--protocol",
        metavar="NAME",
        help="ingest: also trackers of this one beside JT/T 808, such as teltonika; trips: osmand or jt808",
    )
    parser.add_argument("--nodes", type=_count, help="ingest: processes of each server (default 1)")
    parser.add_argument("--udp", action="store_true", help="ingest --protocol: by datagrams")
    parser.add_argument("--seed", type=int, default=1, help="seed of fuzz, drills and days (default 1)")
    parser.add_argument(
        "--drills",
        type=_count_from_0,
        default=0,
        metavar="N",
        help="servers: N times random faults, in place of --minutes with all of them by turns",
    )
    parser.add_argument(
        "--servers", type=int, default=2, help="servers of servers; of more than 2, two share a machine (2)"
    )
    parser.add_argument("--nats", action="store_true", help="servers: NATS links them")
    parser.add_argument("--cameras", type=_count_from_0, default=6, help="cameras of servers (default 6)")
    parser.add_argument("--days", type=_count, default=200, help="days of trips (default 200)")
    parser.add_argument("--kinds", metavar="NAMES", help="kinds of vehicles of trips: van,bus (default: all)")
    parser.add_argument(
        "--jobs", metavar="NUMBERS", help="console: these jobs only: 4,5 (default: everything)"
    )
    parser.add_argument("--clients", type=_count, default=1, help="processes of clients (default 1)")
    parser.add_argument(
        "--ramp", action="store_true", help="ingest: also the highest rate whose p99 is within --bound"
    )
    parser.add_argument(
        "--bound", type=_amount, default=100.0, metavar="MS", help="of --ramp, in milliseconds (default 100)"
    )
    parser.add_argument("--sockets", type=_count, default=200, help="WebSockets of websocket (default 200)")
    parser.add_argument(
        "--vehicles", type=_count, default=2000, help="fleet of mixed and storm (default 2000)"
    )
    parser.add_argument("--devices", type=_count, default=1_000_000, help="devices of size (default 1000000)")
    parser.add_argument(
        "--stored", type=_count, default=10_000_000, help="positions of stored (default 10000000)"
    )
    parser.add_argument("--server", metavar="URL", help="measure this server with Traccar's API")
    parser.add_argument("--email", help=f"its account for --server (or {EMAIL})")
    parser.add_argument("--password", help=f"better given by {PASSWORD}: others see the command line")
    parser.add_argument(
        "--port",
        action="append",
        default=[],
        metavar="PROTOCOL=PORT",
        help="of its devices, where it is not the usual one: jt808=5015; --compare A B: jt808=5015,6015",
    )
    parser.add_argument(
        "--database-pid",
        type=_count,
        metavar="PID",
        help="its PostgreSQL on this machine, to count its CPU",
    )


def run(args: argparse.Namespace) -> int:
    """Run the chosen scenarios; return 0 if all could be measured, 2 for a wrong command line.

    What was measured is shown and written in any case, also after Ctrl+C (code 130).
    """
    # A file or pipe has no width; the table must not wrap.
    console = Console(width=None if sys.stdout.isatty() else 150)
    if args.list:
        for name in names():
            console.print(f"[bold]{name}[/]  {scenario(name).TITLE}", highlight=False)
        return 0
    chosen = args.scenarios or _default(args)
    if problem := _problem(args, chosen):
        sys.stderr.write(f"motorpool bench: {problem}\n")
        return 2
    options = Options(
        seconds=args.seconds,
        minutes=args.minutes,
        terminals=args.terminals,
        idle_terminals=args.idle_terminals,
        streams=args.streams,
        actors=args.actors,
        schedules=args.schedules,
        tickets=args.tickets,
        overdue=args.overdue,
        breaches=args.breaches,
        soak_streams=args.soak_streams,
        soak_requests=args.soak_requests,
        soak_sockets=args.soak_sockets,
        rules=args.rules,
        protocol=args.protocol,
        nodes=args.nodes or 1,
        udp=args.udp,
        seed=args.seed,
        drills=args.drills,
        servers=args.servers,
        nats=args.nats,
        cameras=args.cameras,
        days=args.days,
        kinds=tuple(name.strip() for name in args.kinds.split(",")) if args.kinds else (),
        jobs=tuple(int(number) for number in args.jobs.split(",")) if args.jobs else (),
        server=args.server,
        email=args.email or os.environ.get(EMAIL, ""),
        password=args.password or os.environ.get(PASSWORD, ""),
        ports=_ports(args.port),
        database_pid=args.database_pid,
        clients=args.clients,
        ramp=args.ramp,
        bound_ms=args.bound,
        sockets=args.sockets,
        vehicles=args.vehicles,
        devices=args.devices,
        stored=args.stored,
    )
    try:
        for url in [args.server] if args.server else filter(is_address, args.compare or ()):
            log_in(options, url)
    except BenchError as error:
        sys.stderr.write(f"motorpool bench: {error}\n")
        return 1
    facts = {**machine.facts(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
    summary = Summary(facts | ({"server": args.server} if args.server else {}))
    changes: list[Change] = []
    failed = False
    code = 0
    with _interrupted_by_sigterm():
        try:
            if args.compare:
                failed = _compare(args, chosen, options, summary, changes, console)
            else:
                last_start = math.inf if args.scenarios else time.monotonic() + DEFAULT_SECONDS
                failed = _measure(chosen, options, summary, console, last_start)
        except (KeyboardInterrupt, BaseExceptionGroup):
            # Nurseries put it into a group; groups of errors end in _measure.
            summary.note("interrupted: the figures are those that were measured before")
            code = INTERRUPTED
    if args.compare:
        console.print(change_table(changes, *args.compare))
    elif summary.figures:
        console.print(figure_table(summary))
    if args.baseline and (failed or code):
        summary.note("the baseline was not kept, since not everything could be measured")
    for note in summary.notes:
        console.print(f"· {note}", highlight=False, markup=False)
    writing: list[Callable[[], None]] = []
    if args.json:
        writing.append(lambda: summary.write(args.json, changes))
    if args.html:
        writing.append(lambda: write_page(args.html, summary, changes))
    if args.baseline and not failed and not code:
        writing.append(lambda: baseline.keep(summary))
    for write in writing:
        try:
            write()
        except (OSError, BenchError) as error:
            sys.stderr.write(f"motorpool bench: {error}\n")
            failed = True
    return code or int(failed)


def _count(text: str) -> int:
    """Read a number from 1 on. Raises argparse.ArgumentTypeError: it is none."""
    return _read(text, int, 1, "a whole number from 1 on")


def _count_from_0(text: str) -> int:
    """Read a number from 0 on. Raises argparse.ArgumentTypeError: it is none."""
    return _read(text, int, 0, "a whole number from 0 on")


def _amount(text: str) -> float:
    """Read a number above 0. Raises argparse.ArgumentTypeError: it is none."""
    return _read(text, float, sys.float_info.min, "a number above 0")


def _read(text: str, kind: Callable[[str], T], least: float, what: str) -> T:
    with suppress(ValueError):
        if least <= (number := kind(text)) < math.inf:
            return number
    raise argparse.ArgumentTypeError(f"{text} is not {what}")


def _default(args: argparse.Namespace) -> list[str]:
    """Return what is measured if no scenario is named: of the default set what the servers allow."""
    fit = {"own", "any"} if args.compare else {"none", "own", "any"}
    if args.server or any(map(is_address, args.compare or ())):
        fit = {"any"}
    return [name for name in DEFAULT if scenario(name).SERVER in fit]


def _problem(args: argparse.Namespace, chosen: Sequence[str]) -> str | None:
    """Return what is wrong with the command line, None if nothing is."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        return f"no scenario {', '.join(unknown)}; there are {', '.join(names())}"
    foreign = [name for name in names() if scenario(name).SERVER == "any"]
    if args.server and (others := [name for name in chosen if name not in foreign]):
        return f"{', '.join(others)} cannot measure another server; --server is for {', '.join(foreign)}"
    if args.baseline and (args.server or not baseline.PAGE.exists()):
        return "the baseline is of servers that the bench starts, and kept in a checkout of the repository"
    if args.nodes and args.server:
        return "--nodes is of servers that the bench starts"
    if args.udp and not args.protocol:
        return "--udp is of --protocol"
    for name, scenarios in _OPTIONS_OF.items():
        if getattr(args, name) and not set(scenarios) & set(chosen):
            return f"--{name} is an option of {' and '.join(scenarios)}"
    if (args.port or args.database_pid) and not any(
        map(is_address, (args.server or "", *(args.compare or ())))
    ):
        return "--port and --database-pid are of a server that --server or --compare names"
    for path in (args.json, args.html):
        if path and not _is_writable(path):
            return f"{path} cannot be written"
    if args.jobs and not set(args.jobs.split(",")) <= set(map(str, NUMBERS)):
        return f"--jobs takes numbers of {', '.join(map(str, NUMBERS))}"
    if args.servers < 2:
        return "--servers takes a number from 2 on"
    try:
        _ports(args.port)
    except ValueError:
        return "--port takes a protocol and its port, such as jt808=5015"
    if args.compare:
        return _comparison_problem(args, chosen, foreign)
    return None


def _comparison_problem(
    args: argparse.Namespace, chosen: Sequence[str], foreign: Sequence[str]
) -> str | None:
    if args.server or args.baseline:
        return "--compare names its servers itself, and is no baseline"
    inside = [name for name in chosen if scenario(name).SERVER == "none"]
    if inside and not all(Path(word).is_file() for word in args.compare):
        return f"{', '.join(inside)} measures this program itself, not a server that could be compared"
    own = [name for name in chosen if name not in foreign]
    if own and any(map(is_address, args.compare)):
        return f"{', '.join(own)} cannot measure another server"
    hosts = {urlsplit(word).hostname for word in set(args.compare) if is_address(word)}
    if len(hosts) < sum(map(is_address, set(args.compare))) and not any("," in word for word in args.port):
        return "two servers of one host need --port for each, such as jt808=5015,6015"
    try:
        check_sides(args.compare)
    except BenchError as error:
        return str(error)
    return None


def _ports(words: Sequence[str], side: int = 0) -> dict[str, int]:
    """Return ports by protocol, of a side of --compare. Raises ValueError: one is not such as jt808=5015."""
    pairs = [word.partition("=") for word in words]
    if any(name not in CODECS for name, _, _ in pairs):
        raise ValueError
    ports = {name: [int(port) for port in given.split(",")] for name, _, given in pairs}
    if not all(len(given) <= 2 and all(0 < port < 1 << 16 for port in given) for given in ports.values()):
        raise ValueError
    return {name: given[side if len(given) > 1 else 0] for name, given in ports.items()}


def _is_writable(path: Path) -> bool:
    """Return whether a file can be written, as far as its folder and its rights tell."""
    if path.exists():
        return not path.is_dir() and os.access(path, os.W_OK)
    return path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)


def _compare(
    args: argparse.Namespace,
    chosen: list[str],
    options: Options,
    summary: Summary,
    changes: list[Change],
    console: Console,
) -> bool:
    """Compare two sides, and keep in `changes` what the turns so far tell; return whether one could not be
    measured.
    """
    failed = False

    def measure(side: str, asked: Options) -> Sequence[Figure]:
        nonlocal failed
        console.print(f"· {side}", highlight=False, markup=False)
        one = Summary(summary.machine)
        ports = _ports(args.port, args.compare.index(side))
        failed |= _measure(chosen, msgspec.structs.replace(asked, ports=ports), one, console)
        notes = (f"{side}: {note}" for note in one.notes)
        summary.notes += [note for note in notes if note not in summary.notes]
        return one.figures

    for found in compare_sides(args.compare, options, args.repeats, measure):
        # A file has other scenarios, too.
        changes[:] = [change for change in found if not args.scenarios or change.scenario in chosen]
    if not changes:
        summary.note("the two sides have no figure of the same scenario")
    return failed or not changes


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Make SIGTERM act like Ctrl+C, whatever handles SIGINT at the moment: what was started is ended.

    A shell lets a program in the background ignore SIGINT; it is handled here all the same.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _measure(
    chosen: list[str], options: Options, summary: Summary, console: Console, last_start: float = math.inf
) -> bool:
    """Run the scenarios in turn; return whether one could not be measured.

    None begins after `last_start` (`time.monotonic`).
    """
    failed = False
    columns = (TextColumn("{task.fields[scenario]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as progress:
        for name in chosen:
            if time.monotonic() > last_start:
                summary.note(f"{name}: left out, since the others took so long; name it to measure it")
                continue
            module = scenario(name)
            task = progress.add_task("", total=module.STEPS, scenario=name)
            begun = 0

            def step(description: str, task: TaskID = task) -> None:
                nonlocal begun
                progress.update(task, completed=begun, description=description)
                if not console.is_terminal:
                    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {description}\n")
                begun += 1

            try:
                module.run(options, summary, step)
            except NotThereError as error:
                summary.add_absent(name, "all", "", str(error))
            except (BenchError, httpx.HTTPError) as error:
                summary.note(f"{name}: {str(error) or type(error).__name__}")
                failed = True
            except Exception as error:
                # A mistake in one, or an answer that nobody expected, must not cost the others' figures.
                progress.console.print(traceback.format_exc(), highlight=False, markup=False)
                summary.note(f"{name}: {type(error).__name__}: {error}")
                failed = True
            progress.update(task, completed=module.STEPS, description="")
    return failed
