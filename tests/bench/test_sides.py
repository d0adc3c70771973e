"""The two sides of a comparison."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from motorpool.bench import server, sides
from motorpool.bench.figures import Figure, Summary
from motorpool.bench.options import BenchError, Options
from motorpool.bench.sides import check_sides, compare_sides

HERE = str(Path(sides.__file__).resolve().parent.parent)
ADDRESS = "http://127.0.0.1:9"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder that looks like a checkout."""
    (tmp_path / "other" / ".src" / "motorpool").mkdir(parents=True)
    return tmp_path / "other"


def test_sides_are_measured_by_turns(other: Path) -> None:
    measured: list[str] = []

    def measure(side: str, options: Options) -> Sequence[Figure]:
        checkout = server._checkouts[-1] if server._checkouts else "here"
        assert side in {HERE, str(other), ADDRESS}
        measured.append(str(options.server or checkout))
        return [Figure(scenario="a", metric="b", value=float(len(measured)), unit="c")]

    *_, changes = compare_sides([HERE, str(other)], Options(server=ADDRESS), 3, measure)
    assert measured == ["here", str(other), str(other), "here", "here", str(other)]
    assert (changes[0].before, changes[0].after) == ((1 + 4 + 5) / 3, (2 + 3 + 6) / 3)
    assert changes[0].low is not None
    measured.clear()
    assert len(list(compare_sides([ADDRESS, HERE], Options(), 1, measure))) == 1
    assert measured == [ADDRESS, "here"]


def test_an_earlier_run_is_not_measured_again(tmp_path: Path) -> None:
    summary = Summary({})
    summary.add("a", "b", 2.0, "c")
    for name in ("first.json", "second.json"):
        summary.write(tmp_path / name)
    words = [str(tmp_path / "first.json"), str(tmp_path / "second.json")]
    measured: list[Options] = []

    def measure(_: str, options: Options) -> Sequence[Figure]:
        measured.append(options)
        return [Figure(scenario="a", metric="b", value=3.0, unit="c")]

    ((change,),) = compare_sides(words, Options(), 3, measure)
    assert change.ratio == 1.0
    assert not measured
    _, (change,) = compare_sides([words[0], HERE], Options(), 2, measure)
    assert len(measured) == 2
    assert (change.ratio, change.low) == (pytest.approx(1.5), None)


def test_what_is_no_side_is_refused_before_anything_is_measured(tmp_path: Path, other: Path) -> None:
    check_sides([ADDRESS, str(other)])
    with pytest.raises(BenchError, match="no address, no checkout"):
        check_sides([ADDRESS, str(tmp_path)])
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"machine": {}}), encoding="utf-8")
    with pytest.raises(BenchError, match="cannot read"):
        check_sides([str(broken), ADDRESS])


def test_servers_of_another_checkout_are_started_by_its_code(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    monkeypatch.setattr(server.subprocess, "Popen", lambda words, **given: started.append((words, given)))
    python = other / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    with server.servers_of(other):
        server.start_process(tmp_path, {"A": "b", "MOTORPOOL_MAP_TILES": "none"})
    server.start_process(tmp_path, {"A": "b"})
    (others, ours) = started
    assert others[0][0] == str(python)
    assert others[1]["env"] == {"A": "b", "PYTHONPATH": str(other / ".src")}
    assert ours[0][0] != str(python)
    assert ours[1]["env"] == {"A": "b"}
