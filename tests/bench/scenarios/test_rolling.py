"""The scenario `rolling`: processes that are replaced under load, in which viewers go on viewing."""

from collections import Counter

import pytest

from motorpool.bench.figures import Summary
from motorpool.bench.options import Options
from motorpool.bench.scenarios import rolling
from motorpool.bench.scenarios.rolling import Outcome, Watched


@pytest.mark.long
def test_all_goes_on_while_the_processes_are_replaced() -> None:
    steps: list[str] = []
    outcome = rolling.measure(30, 2, 4, steps.append)
    assert len(steps) == rolling.STEPS
    assert outcome.connections > 100
    assert not outcome.failed_connections
    assert outcome.sent > 50
    assert (outcome.lost, outcome.twice) == (0, 0)
    assert not outcome.ended_early
    assert outcome.uncaptured < 15
    for seen in outcome.viewers:
        assert not seen.refused
        assert seen.segments > 5
        assert (seen.missed, seen.breaks) == (0, 0)
    # Each process is replaced, so each device has moved at least once.
    assert all(1 <= len(seen.discontinuities) <= 4 for seen in outcome.viewers)


def test_its_figures_have_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = Watched(segments=9), Watched(Counter({"playlist: 503": 2}), segments=8, missed=1, breaks=1)
    outcome = Outcome(30.0, Counter({"refused": 1}), 300, [good, bad], 500, 1, 0, Counter(), 1.5)
    monkeypatch.setattr(rolling, "measure", lambda *_: outcome)
    summary = Summary({})
    rolling.run(Options(), summary, lambda _: None)
    missed = {
        each.metric for each in summary.figures for goal in summary.goals_of(each) if not goal.is_met(each)
    }
    assert missed == {
        "connections refused or without an answer",
        "acknowledged and lost",
        "requests of viewers refused",
        "segments missed",
        "playlists begun anew",
    }


def test_segments_after_a_discontinuity_are_found() -> None:
    playlist = "#EXTM3U\n#EXTINF:2,\n7.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:2,\n8.ts\n#EXTINF:2,\n9.ts\n"
    assert rolling._after_discontinuities(playlist) == {8}
