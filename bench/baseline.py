"""The figures that the repository keeps, and the table of docs/performance.md that is written from them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from motorpool.bench.figures import Figure, Summary
from motorpool.bench.options import BenchError

FILE = Path(__file__).resolve().parent / "baseline.json"
PAGE = FILE.parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- baseline: begin -->", "<!-- baseline: end -->"
EARLIER = "earlier runs of"
MACHINE = ("date", "commit", "processor", "cores", "python", EARLIER)
"""What the table says of the run."""


class Run(msgspec.Struct, frozen=True):
    """An earlier `--json`."""

    results: list[Figure]
    machine: dict[str, str | int | float] = {}


def read_run(path: Path) -> Run:
    """Read an earlier run.

    Raises:
        OSError, msgspec.MsgspecError: there is none.
    """
    return msgspec.json.decode(path.read_bytes(), type=Run)


def keep(summary: Summary, file: Path = FILE, page: Path = PAGE) -> None:
    """Write the figures to the repository, and the table into its page.

    Earlier figures of other scenarios are kept.

    Raises:
        BenchError: this is no checkout of the repository.
    """
    if not page.exists():
        raise BenchError("a baseline is kept in a checkout of the repository only")
    measured = {figure.scenario for figure in summary.figures}
    before = read_run(file).results if file.exists() else []
    left = list(dict.fromkeys(each.scenario for each in before if each.scenario not in measured))
    whole = Summary(dict(summary.machine) | ({EARLIER: ", ".join(left)} if left else {}))
    whole.figures = summary.figures + [each for each in before if each.scenario in left]
    whole.notes, whole.plots, whole.samples = summary.notes, summary.plots, summary.samples
    whole.write(file)
    page.write_text(with_table(page.read_text(encoding="utf-8"), read_run(file)), encoding="utf-8")


def with_table(page: str, run: Run) -> str:
    """Return the page with the table of a run between its two marks.

    Raises:
        BenchError: it has no such marks.
    """
    before, begin, rest = page.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BenchError("the page has no place for the table")
    return f"{before}{begin}\n{_table(run)}\n{end}{after}"


def _table(run: Run) -> str:
    about = ", ".join(f"{name} {run.machine[name]}" for name in MACHINE if name in run.machine)
    lines = [f"{about}:", "", "| scenario | metric | measured | must be |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {figure.scenario} | {figure.metric} | {_value(figure)} | {figure.must or ''} |"
        for figure in _shown(run.results)
    ]
    return "\n".join(lines) + "\n"


def _shown(figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures with a goal or a reference; the file has all."""
    return [figure for figure in figures if figure.must or figure.ratio is not None]


def _value(figure: Figure) -> str:
    if figure.value is None:
        return "not there"
    ratio = "" if figure.ratio is None else f" ({figure.ratio:g} x {figure.reference})"
    return f"{figure.value:,.6g} {figure.unit}{ratio}"
