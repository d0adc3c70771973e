"""The page of a run: self-contained, with plots, and safe whatever a server answers."""

import re
from pathlib import Path

import msgspec
from lxml import etree

from motorpool.bench.comparison import Change
from motorpool.bench.figures import Goal, Line, Plot, Summary
from motorpool.bench.page import draw_lines, draw_ratios, write_page

PLOT = Plot(title="a", x="rate", y="ms", lines=[Line("p99", [(1.0, 2.0), (10.0, 5.0)])])


def change(ratio: float | None, low: float | None = None, high: float | None = None) -> Change:
    return Change(
        scenario="ingest",
        metric="p99 <of all>",
        unit="ms",
        before=1.0,
        after=2.0,
        ratio=ratio,
        low=low,
        high=high,
    )


def test_the_page_has_all_and_asks_no_other_host(tmp_path: Path) -> None:
    summary = Summary({"cores": 2})
    summary.add("ingest", "throughput", 20_000, "messages/s", goals=(Goal(12_000, at_least=True),))
    summary.add("ingest", "paced p99", 30, "ms", goals=(Goal(25),))
    summary.add_absent("ingest", "server CPU", "µs", "it is not on this machine")
    summary.note("<script>alert(1)</script>")
    summary.plots.append(PLOT)
    write_page(tmp_path / "run.html", summary, [change(2.0, 1.5, 2.5)])
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "20,000" in page
    assert "not there: it is not on this machine" in page
    assert re.findall(r'class="(met|missed)"', page) == ["met", "missed"]
    assert "<script" not in page
    assert page.count("<svg") == 2
    assert not re.search(r"(src|href|url)\s*[=(]", page)


def test_points_are_where_their_values_are() -> None:
    svg = etree.fromstring(draw_lines(PLOT))
    (line,) = svg.findall("polyline")
    (left, low), (right, high) = (
        [float(number) for number in point.split(",")] for point in line.get("points").split()
    )
    assert left < right
    # Downwards in a picture is down in value.
    assert low > high
    assert "5" in [text.text for text in svg.findall("text")]


def test_a_plot_of_one_point_or_of_nothing_is_drawn() -> None:
    one = Plot(title="a", x="b", y="c", log_x=True, lines=[Line("d", [(5.0, 0.0)])])
    assert etree.fromstring(draw_lines(one)).findall("polyline")
    assert draw_lines(Plot(title="a", x="b", y="c", lines=[])) == ""


def test_ratios_have_their_intervals_and_what_has_none_is_left_out() -> None:
    svg = etree.fromstring(draw_ratios([change(2.0, 1.5, 2.5), change(1.0, 0.9, 1.1), change(None)]))
    assert [dot.get("class") for dot in svg.findall("circle")] == ["sure", "unsure"]
    assert len([line for line in svg.findall("line") if line.get("class") == "interval"]) == 2
    assert draw_ratios([change(None)]) == ""


def test_an_interval_without_end_leaves_room_for_the_others() -> None:
    svg = etree.fromstring(draw_ratios([change(2.0, 0.001, 30_000.0), change(1.0, 0.9, 1.1)]))
    wide, narrow = (line for line in svg.findall("line") if line.get("class") == "interval")
    for line in (wide, narrow):
        assert 320 <= float(line.get("x1")) < float(line.get("x2")) <= 640
    assert float(narrow.get("x2")) - float(narrow.get("x1")) > 20


def test_names_of_ratios_have_room() -> None:
    long = msgspec.structs.replace(change(2.0), metric="m" * 60)
    svg = etree.fromstring(draw_ratios([long]))
    name = next(text for text in svg.findall("text") if "m" * 60 in (text.text or ""))
    assert name.get("text-anchor") == "end"
    # Letters of 12 px are at most 7 wide on average.
    assert float(name.get("x")) > 7 * len(name.text or "")
    assert float(svg.find("circle").get("cx")) > float(name.get("x"))
