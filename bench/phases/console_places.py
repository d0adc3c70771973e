"""The places of the console before 10,000 vehicles, each beside its budget."""

import msgspec

from motorpool.bench.chromium import run_in_chromium
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.console_places import LIST, REPORT, PlacesView
from motorpool.bench.server import EMAIL, Server

VEHICLES = 10_000
LIST_SECONDS = Goal(1)
PLACE_SECONDS = Goal(1)
REPORT_SECONDS = Goal(3)
"""Of a row for each vehicle."""
FRAMES = Goal(50, at_least=True)
FRAME_MS = Goal(20)
"""CPU of the page for a frame, if there are to be 50 in a second."""
SORT_SECONDS = Goal(0.5)
_SECONDS = 600.0
# Vans on a lattice of five by five degrees, which reported a minute ago; every second one moves.
_FILL = """
    insert into devices (name, unique_id, model)
    select 'Van ' || n, 'van' || n, 'Model ' || n % 20 from generate_series(1, {vehicles}) as n;
    insert into user_device (user_id, device_id) select (select min(id) from users), id from devices;
    with chosen as (
        update id_blocks set next_id = next_id + {vehicles} where name = 'positions'
        returning next_id - {vehicles} as first
    )
    insert into positions (id, device_id, server_time, device_time, fix_time, latitude, longitude, altitude,
        speed, course, accuracy, outdated, valid, protocol, attributes)
    select first + row_number() over (order by id) - 1, id, t, t, t,
        50 + id % 100 / 20.0, 8 + id / 100 / 20.0, 30, id % 2 * 29.16, id % 360, 5, false, true, 'osmand',
        jsonb_build_object('totalDistance', 1000.5 * id, 'ignition', id % 2 = 1, 'motion', id % 2 = 1)
    from chosen, devices, lateral (select now() - interval '1 minute' as t) as reported;
"""


def fill(server: Server) -> None:
    """Make the vehicles, and start the server anew, which then knows them.

    Raises:
        BenchError: the database refuses, or the server does not start.
    """
    server.run_sql(_FILL.format(vehicles=VEHICLES))
    server.run_sql("analyze")
    server.restart()


def view_places(server: Server, seconds: float) -> PlacesView:
    """Have the browser go to each place, and scroll the tables for so long.

    Raises:
        BenchError: Chromium or Playwright is missing, or a place does not show its content.
    """
    line = run_in_chromium(
        "load.console_places",
        server.url,
        EMAIL,
        str(VEHICLES),
        "--seconds",
        f"{seconds:g}",
        password=server.password,
        seconds=_SECONDS,
    )
    return msgspec.json.decode(line, type=PlacesView)


def add_figures(name: str, view: PlacesView, summary: Summary) -> None:
    """Add what was measured, with the budgets as goals."""
    of = f"{VEHICLES:,} vehicles"
    summary.add(name, f"{of}, list, empty cache", view.first_list_seconds, "s")
    summary.add(name, f"{of}, list", view.list_seconds, "s", goals=(LIST_SECONDS,))
    rest = f"{of}, list and map until they are at rest"
    summary.add(name, f"{rest}, CPU of the page", view.list_task_seconds, "s")
    summary.add(name, f"{rest}, of it scripts", view.list_script_seconds, "s", goals=(LIST_SECONDS,))
    for address, took in view.places_ms.items():
        place = address.partition("?")[0]
        budget = REPORT_SECONDS if address == REPORT else PLACE_SECONDS
        summary.add(name, f"{of}, {place}, content", took / 1000, "s", goals=(budget,))
    for address, drawn in view.scrolled.items():
        rows = view.rows.get(address, VEHICLES)
        scrolled = f"{rows:,} rows of {address} scrolled"
        # Beside the list a map is drawn, which has frames of its own.
        goals = () if address == LIST else (FRAMES,)
        summary.add(name, f"{scrolled}, frames", drawn.frames_per_second, "frames/s", goals=goals)
        summary.add(name, f"{scrolled}, CPU for a frame", drawn.task_ms, "ms", goals=goals and (FRAME_MS,))
        summary.add(name, f"{scrolled}, worst frame", drawn.worst_frame_ms, "ms")
    summary.add(name, f"{of}, table sorted", view.sort_ms / 1000, "s", goals=(SORT_SECONDS,))
