"""The places of the console before many vehicles."""

import re
from pathlib import Path
from typing import Any

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.load.console_places import LIST, PLACES, REPORT, TABLE, PlacesView, Scrolled
from motorpool.bench.phases import console_places

ROUTES = Path(__file__).parents[3] / "api" / "console" / "src" / "routes.ts"


def test_what_was_measured_stands_beside_its_budget() -> None:
    view = PlacesView(
        first_list_seconds=2,
        list_seconds=1.5,
        list_task_seconds=0.8,
        list_script_seconds=0.2,
        places_ms={"/events": 1200, "/reports/trips?deviceId={vehicle}": 400, REPORT: 2500},
        rows={TABLE: 10_000},
        scrolled={LIST: Scrolled(20, 100, 30), TABLE: Scrolled(49, 40, 12)},
        sort_ms=100,
    )
    summary = Summary({})
    console_places.add_figures("console", view, summary)
    missed = {
        figure.metric
        for figure in summary.figures
        if any(not goal.is_met(figure) for goal in summary.goals_of(figure))
    }
    assert missed == {
        "10,000 vehicles, list",
        "10,000 vehicles, /events, content",
        "10,000 rows of /admin/devices scrolled, frames",
    }
    figures = {figure.metric: figure for figure in summary.figures}
    assert figures["10,000 vehicles, /reports/trips, content"].value == 0.4
    assert figures["10,000 rows of /admin/devices scrolled, CPU for a frame"].value == 12


def test_each_place_of_the_console_is_gone_to() -> None:
    patterns = set(re.findall(r'pattern: "([^"]+)"', ROUTES.read_text(encoding="utf-8")))
    gone_to = {address.partition("?")[0].replace("{vehicle}", ":id") for address in (*PLACES, LIST, TABLE)}
    # Others need a record of their own, or nobody who is logged in.
    others = {pattern for pattern in patterns - gone_to if ":" not in pattern}
    assert others == {"/", "/reports", "/share", "/login", "/reset-password"}
    assert gone_to <= {*patterns, "/reports/summary", "/reports/trips"}


@pytest.mark.long
def test_places_are_measured_in_a_browser(monkeypatch: pytest.MonkeyPatch, start_server: Any) -> None:
    monkeypatch.setattr(console_places, "VEHICLES", 200)
    with start_server() as server:
        console_places.fill(server)
        view = console_places.view_places(server, 0.5)
    assert set(view.places_ms) == {*PLACES, TABLE, REPORT}
    assert view.rows == {TABLE: 200, REPORT: 200}
    assert all(each.task_ms > 0 for each in view.scrolled.values())
    assert view.list_script_seconds > 0
