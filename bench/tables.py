"""Figures and comparisons as tables of the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from motorpool.bench.comparison import Change
from motorpool.bench.figures import Figure, Summary

ABSENT = "not there"


def figure_table(summary: Summary) -> Table:
    """Return the figures with their goals, green or red."""
    # It has to fit into 80 columns: names are broken into lines, not cut.
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("scenario", "metric", "value", "unit", "ratio", "must"):
        table.add_column(title, justify="right" if title in ("value", "must") else "left", overflow="fold")
    for figure in summary.figures:
        table.add_row(
            figure.scenario,
            figure.metric,
            ABSENT if figure.value is None else f"{figure.value:,.6g}",
            figure.unit if figure.absent is None else escape(figure.absent),
            "" if figure.ratio is None else f"{figure.ratio:.3g} x {figure.reference}",
            _verdict(summary, figure),
        )
    return table


def _verdict(summary: Summary, figure: Figure) -> str:
    shown = []
    for goal in summary.goals_of(figure):
        met = goal.is_met(figure)
        shown.append(f"[{'green' if met else 'bold red'}]{goal} {'✓' if met else '✗'}[/]")
    return "  ".join(shown)


def change_table(changes: Sequence[Change], before: str, after: str) -> Table:
    """Return a comparison; what differs for sure is bold."""
    table = Table("scenario", "metric", title=f"{escape(after)} beside {escape(before)}")
    for title in ("first", "second", "unit", "ratio", "95 %"):
        table.add_column(title, justify="left" if title == "unit" else "right")
    for change in changes:
        ratio = "" if change.ratio is None else f"{change.ratio:.3f}"
        interval = "" if change.low is None else f"{change.low:.3f} to {change.high:.3f}"
        table.add_row(
            change.scenario,
            change.metric,
            ABSENT if change.before is None else f"{change.before:,.4g}",
            ABSENT if change.after is None else f"{change.after:,.4g}",
            change.unit,
            f"[bold]{ratio}[/]" if change.is_sure else ratio,
            interval,
        )
    return table
