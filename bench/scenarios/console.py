"""The console before a large fleet: first view, frames, changes, places; a wall; the jobs of an operator."""

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from math import cos, radians, sin
from pathlib import Path
from typing import TypeVar

import msgspec

from motorpool.bench.chromium import run_in_chromium
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.jobs.budgets import NUMBERS
from motorpool.bench.load.console_page import (
    DESK_WIDTH,
    PHONE_WIDTH,
    WATCHED,
    Drawn,
    FleetView,
    WallView,
)
from motorpool.bench.load.plan import Mark, TerminalLoad
from motorpool.bench.load.program import LoadFailed, run_program
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.phases import console_places
from motorpool.bench.phases.broadcast import open_cameras
from motorpool.bench.phases.console_jobs import add_figures, do_jobs
from motorpool.bench.server import EMAIL, Server, run_demonstration, run_server
from motorpool.bench.vehicles import media_loop

View = TypeVar("View", FleetView, WallView)

NAME = "console"
TITLE = (
    "the console in Chromium: 5,000 vehicles that report; places before 10,000; a wall; an operator's jobs"
)
SERVER = "own"
STEPS = 7
VEHICLES = 5000
RATE = 1000.0
"""Positions a second of all together."""
CAMERAS = 9
WIDTHS = (("", DESK_WIDTH), ("phone, ", PHONE_WIDTH))
"""Of the window, with the begin of the names of what is measured in it."""
FRAMES = Goal(30, at_least=True)
MAX_TASK_MS = Goal(200)
CHANGE_SECONDS = Goal(1)
FIRST_VIEW_KB = Goal(300)
LIST_SECONDS = Goal(2)
REQUEST_MS = Goal(300)
LOGIN_SECONDS = 120.0
SCROLLED_SECONDS = 5.0
WALL_SECONDS = 30.0
"""Three cameras start at once, and wait for their first segments."""
BROWSER_SECONDS = 180.0
"""Allowed for the browser beside the measured spans."""
KB = 1024
TOWN_DEGREES = 0.2
"""Radius of a town, in degrees of latitude."""
TOWNS = (
    (52.52, 13.40),
    (53.55, 9.99),
    (48.14, 11.58),
    (50.94, 6.96),
    (48.86, 2.35),
    (45.76, 4.84),
    (43.30, 5.37),
    (47.37, 8.54),
    (41.39, 2.17),
    (55.68, 12.57),
    (47.50, 19.04),
    (37.98, 23.73),
    (52.37, 4.90),
    (50.85, 4.35),
    (45.46, 9.19),
    (41.90, 12.50),
    (48.21, 16.37),
    (50.08, 14.44),
    (52.23, 21.01),
    (59.33, 18.06),
)


def run(options: Options, summary: Summary, step: Step) -> None:
    """Measure the fleet, the places, the wall and the jobs, each on a server of its own."""
    if not options.jobs:
        _measure_views(options, summary, step)
    step("the jobs of an operator")
    with run_demonstration() as shown:
        add_figures(NAME, do_jobs(shown, options.jobs or NUMBERS), summary)
    step("done")


def _measure_views(options: Options, summary: Summary, step: Step) -> None:
    seconds = options.span(20.0)
    try:
        with run_server() as server:
            step(f"{VEHICLES:,} vehicles report {RATE:,.0f} times a second")
            _measure_fleet(server, summary, step, seconds)
        step(f"each place before {console_places.VEHICLES:,} vehicles")
        with run_server() as server:
            console_places.fill(server)
            view = console_places.view_places(server, options.span(SCROLLED_SECONDS))
            console_places.add_figures(NAME, view, summary)
        step(f"a wall of {CAMERAS} cameras")
        with run_server() as server, tempfile.TemporaryDirectory(prefix="motorpool-bench-") as name:
            _measure_wall(server, summary, Path(name), options.span(WALL_SECONDS))
    except LoadFailed as error:
        raise BenchError(str(error)) from error


def _measure_fleet(server: Server, summary: Summary, step: Step, seconds: float) -> None:
    with server.client() as client:
        watched = {"name": WATCHED, "uniqueId": WATCHED}
        client.post("/devices", json=watched).raise_for_status()
    load = TerminalLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"135{number:08d}" for number in range(1, VEHICLES + 1)),
        mode="paced",
        rate=RATE,
        # Each reports once before the page is opened.
        warm_seconds=VEHICLES / RATE,
        seconds=len(WIDTHS) * (3 * seconds + BROWSER_SECONDS),
        first_epoch=(datetime.now(UTC) - timedelta(hours=1)).timestamp(),
        origins=tuple(_origins(VEHICLES)),
    )
    with run_program("terminals", load) as program:
        program.wait_for(Mark, LOGIN_SECONDS, lambda mark: mark.name == "begin")
        reports = f"http://{server.host}:{server.osmand_port}/"
        for of, width in WIDTHS:
            step(f"the fleet for {2 * seconds:g} s, {width} pixels wide")
            view = _browse(server, FleetView, seconds, "--report-url", reports, "--width", str(width))
            _report_fleet(summary, of, view)


def _report_fleet(summary: Summary, of: str, view: FleetView) -> None:
    own = view.own_bytes / KB
    summary.add(NAME, f"{of}first view, own files without the map library", own, "KB", goals=(FIRST_VIEW_KB,))
    summary.add(NAME, f"{of}first view, map library", view.map_library_bytes / KB, "KB")
    summary.add(NAME, f"{of}first view, answers of the API", view.api_bytes / KB, "KB")
    summary.add(NAME, f"{of}first view, list", view.list_seconds, "s", goals=(LIST_SECONDS,))
    summary.add(NAME, f"{of}first view, map", view.map_seconds, "s")
    _report_drawn(summary, f"{of}still", view.still)
    _report_drawn(summary, f"{of}panned", view.panned)
    worst = max(view.changes_seconds)
    summary.add(NAME, f"{of}list shows a change, worst", worst, "s", goals=(CHANGE_SECONDS,))


def _report_drawn(summary: Summary, way: str, drawn: Drawn) -> None:
    summary.add(NAME, f"{way}, frames", drawn.frames_per_second, "frames/s", goals=(FRAMES,))
    summary.add(NAME, f"{way}, worst frame", drawn.worst_frame_ms, "ms")
    summary.add(NAME, f"{way}, longest task", drawn.longest_task_ms, "ms", goals=(MAX_TASK_MS,))


def _measure_wall(server: Server, summary: Summary, folder: Path, seconds: float) -> None:
    loop_file = folder / "loop"
    media_loop.write_loop(media_loop.make_loop(), loop_file)
    with open_cameras(server, loop_file, "135", CAMERAS) as cameras:
        tiles = ",".join(f"{device}.1" for device in cameras.devices)
        view = _browse(server, WallView, seconds, "--tiles", tiles)
    started = sorted(view.started_seconds)
    summary.add(NAME, "wall, pictures", len(started), "cameras", goals=(Goal(CAMERAS, at_least=True),))
    summary.add(NAME, "wall, last picture after", max(started, default=0.0), "s")
    summary.add(NAME, "wall, frames dropped", view.dropped / max(1, view.frames) * 100, "%")
    worst = max(view.requests_ms, default=0.0)
    summary.add(NAME, "wall, GET /api/server beside it, worst", worst, "ms", goals=(REQUEST_MS,))


def _browse(server: Server, kind: type[View], seconds: float, *arguments: str) -> View:
    """Run the browser to its end and return what it measured.

    Raises:
        BenchError: Chromium or Playwright is missing, or the page does not get so far.
    """
    line = run_in_chromium(
        "load.console_page",
        server.url,
        EMAIL,
        "--seconds",
        f"{seconds:g}",
        *arguments,
        password=server.password,
        seconds=3 * seconds + BROWSER_SECONDS,
    )
    return msgspec.json.decode(line, type=kind)


def _origins(count: int) -> list[tuple[float, float]]:
    """Return places around the towns in turn, on a spiral around the middle of each."""
    places = []
    for number, (latitude, longitude) in enumerate(islice(cycle(TOWNS), count)):
        # The golden angle: no two vehicles of a town lie in a line.
        turn, share = number * 2.399963, (number // len(TOWNS) + 1) / (count / len(TOWNS) + 1)
        away = TOWN_DEGREES * share**0.5
        places.append((latitude + away * sin(turn), longitude + away * cos(turn) / cos(radians(latitude))))
    return places
