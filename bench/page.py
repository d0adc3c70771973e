"""The figures of a run as one HTML file with plots, which needs nothing else."""

import html
import math
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader

from motorpool.bench.comparison import Change
from motorpool.bench.figures import Plot, Summary

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 88, 16, 16, 56
"""Room for labels, which are larger on a narrow screen."""
LINES = 6
"""Colours of lines, which the style of the page names."""
_ROW = 22


def write_page(path: Path, summary: Summary, changes: Sequence[Change] = ()) -> None:
    """Write the page.

    Raises:
        OSError: the file cannot be written.
    """
    environment = Environment(
        loader=PackageLoader("motorpool.bench", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.get_template("page.html").render(
        machine=summary.machine,
        figures=summary.figures,
        met={(figure.scenario, figure.metric): summary.is_met(figure) for figure in summary.figures},
        notes=summary.notes,
        plots=[(plot, draw_lines(plot)) for plot in summary.plots],
        changes=changes,
        ratios=draw_ratios(changes) if changes else "",
        number="{:,.6g}".format,
        colours=LINES,
    )
    path.write_text(page, encoding="utf-8")


def draw_lines(plot: Plot) -> str:
    """Draw a plot as SVG."""
    points = [point for line in plot.lines for point in line.points]
    if not points:
        return ""
    across = _Axis([x for x, _ in points], LEFT, WIDTH - RIGHT, is_log=plot.log_x)
    upwards = _Axis([0.0, *(y for _, y in points)], HEIGHT - BOTTOM, TOP)
    parts = [_open(WIDTH, HEIGHT, plot.title)]
    for value in across.ticks():
        at = across.place(value)
        parts += [
            f'<line class="grid" x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}"/>',
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:,.4g}</text>',
        ]
    for value in upwards.ticks():
        at = upwards.place(value)
        parts += [
            f'<line class="grid" x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}"/>',
            f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:,.4g}</text>',
        ]
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{html.escape(plot.x)}'
        f'</text><text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)"'
        f' text-anchor="middle">{html.escape(plot.y)}</text>'
    )
    for number, line in enumerate(plot.lines):
        path = " ".join(f"{across.place(x):.1f},{upwards.place(y):.1f}" for x, y in line.points)
        title = f"<title>{html.escape(line.name)}</title>"
        parts.append(f'<polyline class="line c{number % LINES}" points="{path}">{title}</polyline>')
    return "".join(parts) + "</svg>"


def draw_ratios(changes: Sequence[Change]) -> str:
    """Draw each ratio with its interval, beside a line where nothing has changed."""
    shown = [change for change in changes if change.ratio is not None]
    if not shown:
        return ""
    ratios = [change.ratio for change in shown if change.ratio is not None]
    # Wider intervals say nothing, and would leave no room for the others.
    least, most = min(1.0, *ratios) / 2, max(1.0, *ratios) * 2
    ends = [min(max(end, least), most) for change in shown for end in (change.low, change.high) if end]
    height = TOP + len(shown) * _ROW + BOTTOM
    # As wide as the longest name, of letters of about half their height.
    left = max(320, 16 + 7 * max(len(f"{change.scenario}: {change.metric}") for change in shown))
    width = left + WIDTH // 2
    across = _Axis([1.0, *ratios, *ends], left, width - RIGHT, is_log=True)
    parts = [_open(width, height, "ratios with their intervals", ' class="long"')]
    one = across.place(1.0)
    parts.append(f'<line class="one" x1="{one:.1f}" y1="{TOP}" x2="{one:.1f}" y2="{height - BOTTOM}"/>')
    for number, change in enumerate(shown):
        y = TOP + number * _ROW + _ROW / 2
        assert change.ratio is not None
        name = html.escape(f"{change.scenario}: {change.metric}")
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{name}</text>')
        if change.low is not None and change.high is not None:
            low, high = (across.place(min(max(end, least), most)) for end in (change.low, change.high))
            parts.append(f'<line class="interval" x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>')
        kind = "sure" if change.is_sure else "unsure"
        parts.append(f'<circle class="{kind}" cx="{across.place(change.ratio):.1f}" cy="{y}" r="4"/>')
    for value in across.ticks():
        at = across.place(value)
        parts.append(
            f'<text x="{at:.1f}" y="{height - BOTTOM + 16}" text-anchor="middle">{value:,.4g}</text>'
        )
    return "".join(parts) + "</svg>"


def _open(width: int, height: int, title: str, more: str = "") -> str:
    return (
        f'<svg{more} viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        f' aria-label="{html.escape(title)}">'
    )


class _Axis:
    """Places of values along one direction."""

    def __init__(self, values: Sequence[float], begin: float, end: float, *, is_log: bool = False) -> None:
        self._is_log = is_log
        self._begin, self._end = begin, end
        self._low, self._high = min(values), max(values)
        if is_log:
            self._low, self._high = max(self._low, 1e-9), max(self._high, 1e-9)
        if self._low == self._high:
            self._high = self._low * 2 or 1.0

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-9)) if self._is_log else value

    def place(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high = self._scaled(self._low), self._scaled(self._high)
        return self._begin + (self._scaled(value) - low) / (high - low) * (self._end - self._begin)

    def ticks(self) -> list[float]:
        """Return round values to be named."""
        if self._is_log and self._high / self._low >= 10:
            powers = range(math.floor(math.log10(self._low)), math.ceil(math.log10(self._high)))
            times = (1, 2, 5) if len(powers) <= 2 else (1,)
            found = [each * 10.0**power for power in (*powers, powers[-1] + 1) for each in times]
            return [value for value in found if self._low <= value <= self._high]
        step = 10 ** math.floor(math.log10((self._high - self._low) / 2))
        step *= next(times for times in (1, 2, 5, 10) if (self._high - self._low) / (step * times) <= 6)
        first, last = math.ceil(self._low / step), math.floor(self._high / step)
        return [number * step for number in range(first, last + 1)]
