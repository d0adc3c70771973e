"""`motorpool bench`: runs scenarios, shows a table, writes the figures as JSON."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from motorpool.bench import machine
from motorpool.bench.figures import Difference, Figure, Summary, differences, read_figures
from motorpool.bench.jobs.budgets import NUMBERS
from motorpool.bench.options import BenchError, Options
from motorpool.bench.scenarios import names, scenario

EMAIL, PASSWORD = "MOTORPOOL_BENCH_EMAIL", "MOTORPOOL_BENCH_PASSWORD"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="what to measure (see --list)")
    parser.add_argument("--list", action="store_true", help="name the scenarios and end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as JSON")
    parser.add_argument(
        "--compare", type=Path, metavar="FILE", help="show the differences from an earlier --json"
    )
    parser.add_argument("--seconds", type=float, help="length of each measured span (default: by scenario)")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="length of play, soak, fuzz, servers (10)"
    )
    parser.add_argument("--terminals", type=int, default=1000, help="reporting terminals (default 1000)")
    parser.add_argument(
        "--idle-terminals",
        type=int,
        default=10_000,
        help="terminals of registration, idle (default 10000)",
    )
    parser.add_argument("--streams", type=int, default=400, help="live streams (default 400)")
    parser.add_argument("--actors", type=int, default=100_000, help="idle actors (default 100000)")
    parser.add_argument("--schedules", type=int, default=10_000, help="scheduled commands (default 10000)")
    parser.add_argument("--tickets", type=int, default=200, help="tickets created a second (default 200)")
    parser.add_argument("--overdue", type=int, default=10_000, help="overdue tickets (default 10000)")
    parser.add_argument(
        "--breaches", type=int, default=0, help="tickets that breach within a minute (default 0)"
    )
    parser.add_argument("--soak-streams", type=int, default=40, help="live streams of soak (default 40)")
    parser.add_argument(
        "--soak-requests", type=float, default=50.0, help="API requests a second of soak (default 50)"
    )
    parser.add_argument("--soak-sockets", type=int, default=20, help="WebSockets of soak (default 20)")
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
    parser.add_argument("--udp", action="store_true", help="ingest --protocol: by datagrams")
    parser.add_argument("--seed", type=int, default=1, help="seed of fuzz, drills and days (default 1)")
    parser.add_argument(
        "--drills",
        type=int,
        default=0,
        metavar="N",
        help="servers: N times random faults, in place of --minutes with all of them by turns",
    )
    parser.add_argument("--cameras", type=int, default=6, help="cameras of servers (default 6)")
    parser.add_argument("--days", type=int, default=200, help="days of trips (default 200)")
    parser.add_argument("--kinds", metavar="NAMES", help="kinds of vehicles of trips: van,bus (default: all)")
    parser.add_argument(
        "--jobs", metavar="NUMBERS", help="console: these jobs only: 4,5 (default: everything)"
    )
    parser.add_argument("--server", metavar="URL", help="trips: another server with Traccar's API")
    parser.add_argument("--email", help=f"its account for --server (or {EMAIL})")
    parser.add_argument("--password", help=f"better given by {PASSWORD}: others see the command line")
    parser.add_argument(
        "--device-port", type=int, default=0, help="of its devices (default: the usual one of the protocol)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the chosen scenarios; return 0 if all could be measured, 2 for a wrong command line."""
    # A file or pipe has no width; the table must not wrap.
    console = Console(width=None if sys.stdout.isatty() else 150)
    if args.list:
        for name in names():
            console.print(f"[bold]{name}[/]  {scenario(name).TITLE}", highlight=False)
        return 0
    unknown = [name for name in args.scenarios if name not in names()]
    if unknown or not args.scenarios:
        problem = f"no scenario {', '.join(unknown)}" if unknown else "name a scenario"
        sys.stderr.write(f"motorpool bench: {problem}; there are {', '.join(names())}\n")
        return 2
    try:
        before = read_figures(args.compare) if args.compare else []
    except (OSError, msgspec.MsgspecError) as error:
        sys.stderr.write(f"motorpool bench: cannot read {args.compare}: {error}\n")
        return 2
    try:
        jobs = tuple(int(number) for number in args.jobs.split(",")) if args.jobs else ()
    except ValueError:
        jobs = (0,)
    if not set(jobs) <= set(NUMBERS):
        sys.stderr.write(f"motorpool bench: --jobs takes numbers of {', '.join(map(str, NUMBERS))}\n")
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
        udp=args.udp,
        seed=args.seed,
        drills=args.drills,
        cameras=args.cameras,
        days=args.days,
        kinds=tuple(name.strip() for name in args.kinds.split(",")) if args.kinds else (),
        jobs=jobs,
        server=args.server,
        email=args.email or os.environ.get(EMAIL, ""),
        password=args.password or os.environ.get(PASSWORD, ""),
        device_port=args.device_port,
    )
    summary = Summary(machine.facts())
    with _interrupted_by_sigterm():
        failed = _measure(args.scenarios, options, summary, console)
    console.print(_table(summary))
    if before:
        console.print(_difference_table(differences(before, summary.figures)))
    for note in summary.notes:
        console.print(f"· {note}", highlight=False, markup=False)
    if args.json:
        summary.write(args.json)
    return 1 if failed else 0


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


def _measure(chosen: list[str], options: Options, summary: Summary, console: Console) -> bool:
    """Run the scenarios in turn; return whether one could not be measured."""
    failed = False
    columns = (TextColumn("{task.fields[scenario]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as progress:
        for name in chosen:
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
            except BenchError as error:
                summary.note(f"{name}: {error}")
                failed = True
            progress.update(task, completed=module.STEPS, description="")
    return failed


def _table(summary: Summary) -> Table:
    table = Table("scenario", "metric")
    for title in ("value", "unit", "reference", "ratio", "must"):
        table.add_column(title, justify="right" if title in ("value", "ratio", "must") else "left")
    for figure in summary.figures:
        table.add_row(
            figure.scenario,
            figure.metric,
            f"{figure.value:,.6g}",
            figure.unit,
            figure.reference or "",
            "" if figure.ratio is None else f"{figure.ratio:.3g}",
            _verdict(summary, figure),
        )
    return table


def _verdict(summary: Summary, figure: Figure) -> str:
    """Format the goals of a figure, green or red."""
    shown = []
    for goal in summary.goals_of(figure):
        met = goal.is_met(figure)
        shown.append(f"[{'green' if met else 'bold red'}]{goal} {'✓' if met else '✗'}[/]")
    return "  ".join(shown)


def _difference_table(found: list[Difference]) -> Table:
    table = Table("scenario", "metric", title="differences (ratios where there are, else values)")
    for title in ("before", "now", "unit", "change"):
        table.add_column(title, justify="left" if title == "unit" else "right")
    for difference in found:
        change = "" if difference.change is None else f"{difference.change:+.1%}"
        before, after = f"{difference.before:,.4g}", f"{difference.after:,.4g}"
        table.add_row(difference.scenario, difference.metric, before, after, difference.unit, change)
    return table
