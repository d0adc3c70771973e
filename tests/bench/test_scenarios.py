"""The scenarios themselves, for a moment each, so that they cannot rot."""

import pytest

from motorpool.bench.figures import Report
from motorpool.bench.options import Options
from motorpool.bench.phases import broadcast
from motorpool.bench.scenarios import api, live, names, scenario, schedules


def test_every_scenario_has_a_title_for_the_list() -> None:
    assert names() == ["api", "codecs", "ingest", "live", "mailbox", "play", "schedules"]
    assert all(scenario(name).TITLE and scenario(name).STEPS > 0 for name in names())


def test_an_unknown_scenario_is_told_so() -> None:
    with pytest.raises(KeyError):
        scenario("nonsense")


def test_mailbox_measures_messages_memory_and_pykka() -> None:
    report, steps = Report({}), list[str]()
    scenario("mailbox").run(Options(seconds=0.2, actors=2000), report, steps.append)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["tell resident, bursts of 100"].value > 0
    assert figures["ask resident"].reference == "one-shot channel"
    assert figures["ask resident"].ratio == pytest.approx(
        figures["ask resident"].value / figures["one-shot channel"].value, rel=0.01
    )
    assert 50 < figures["idle on-demand actor"].value < 2000
    assert figures["Pykka ask"].value > 0
    assert len(steps) == scenario("mailbox").STEPS
    assert all(report.goals_of(figures[metric]) for metric in ("idle on-demand actor", "ask resident"))


def test_codecs_measures_reports_and_packets() -> None:
    report = Report({})
    scenario("codecs").run(Options(seconds=0.01), report, lambda _: None)
    assert {figure.unit for figure in report.figures} == {"µs", "ms"}
    assert all(0 < figure.value < 10_000 for figure in report.figures)


def test_ingest_finds_every_acknowledged_position_in_the_database() -> None:
    report = Report({})
    scenario("ingest").run(Options(seconds=0.5, terminals=20, idle_terminals=0), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    assert figures["throughput"].reference == "echo"
    assert figures["throughput"].ratio is not None
    assert figures["acknowledged"].value > 20
    assert figures["acknowledged but not stored"].value == 0
    assert figures["rejected"].value == 0


def test_live_accounts_for_every_frame_that_its_readers_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    report, steps = Report({}), list[str]()
    monkeypatch.setattr(live, "VIEWERS_OF_A_STREAM", 3)
    monkeypatch.setattr(live, "REFERENCE_SECONDS", 16)
    monkeypatch.setattr(broadcast, "STARTS_PER_SECOND", 100.0)
    scenario("live").run(Options(seconds=1, streams=3), report, steps.append)
    figures = {figure.metric: figure for figure in report.figures}
    assert len(steps) == scenario("live").STEPS
    assert figures["3 streams without readers"].reference == "ffmpeg"
    assert figures["3 G.711 streams without readers"].reference == "ffmpeg transcoding"
    for title in ("3 streams", "3 G.711 streams", "3 captures"):
        assert figures[f"{title}: frames checked"].value >= 100
        assert figures[f"{title}: sounds checked"].value >= 25
        assert figures[f"{title}: left out or repeated"].value == 0
        assert figures[f"{title}: not what was sent"].value == 0
        assert figures[f"{title}: sound beside its picture, worst"].value < 1
    for title in ("3 streams", "3 G.711 streams"):
        assert figures[f"{title}: segments broken"].value == 0
        assert figures[f"{title}: streams that were never read"].value == 0
        assert figures[f"{title}: EXTINF sum less PTS span, worst"].value < 1
    assert figures["3 streams with captures"].reference == "without captures"
    assert figures["3 captures: files broken"].value == 0
    assert figures["9 viewers on 3 streams: failed requests"].value == 0
    assert figures["9 viewers on 3 streams: playlists"].value > 0


def test_api_compares_calls_with_a_bare_route_and_lists_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "DEVICES", 3000)
    monkeypatch.setattr(api, "ROUNDS", 1)
    report = Report({})
    scenario("api").run(Options(seconds=0.4, terminals=20), report, lambda _: None)
    figures = {figure.metric: figure for figure in report.figures}
    for call in ("GET /devices/{id}", "GET /positions", "PUT /devices/{id}"):
        assert figures[f"{call} server CPU"].reference == "bare route"
        assert figures[f"{call} server CPU"].ratio is not None
    assert figures["GET /devices/{id} beside ingest, positions"].value > 0
    assert figures["long list, devices"].value == 3000
    assert not [note for note in report.notes if "failed" in note]


def test_schedules_sleep_open_all_at_once_and_end_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    report, steps = Report({}), list[str]()
    monkeypatch.setattr(schedules, "CALENDARS", 3)
    scenario("schedules").run(Options(seconds=1, terminals=20, schedules=40), report, steps.append)
    figures = {figure.metric: figure for figure in report.figures}
    assert len(steps) == scenario("schedules").STEPS
    # Other tests may take the server's core meanwhile: that is told, and no fault.
    assert [note for note in report.notes if "waited for a core" not in note] == []
    assert 0 < figures["first steps received, p50"].value <= figures["first steps received, last"].value < 5
    assert figures["first steps handed over, last"].value < 5
    assert (figures["steps sent"].value, figures["skipped offline"].value) == (40, 40)
    for metric in (
        "first steps never received",
        "steps received twice",
        "steps received early",
        "steps recorded twice",
        "skipped twice",
        "positions lost",
        "positions refused",
    ):
        assert figures[metric].value == 0
    assert figures["ingest p99 during"].reference == "before"
