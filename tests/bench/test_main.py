"""The command line of `motorpool bench`."""

import argparse
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

from motorpool.bench import main
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError, Options, Step


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    main.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def two_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that measures and one that cannot."""

    def measure(options: Options, summary: Summary, step: Step) -> None:
        step("half")
        summary.add("good", "speed", options.span(3.0), "km/h", goals=(Goal(5),))
        step("whole")

    def fail(options: Options, summary: Summary, step: Step) -> None:
        raise BenchError("there is no road")

    found = {
        "good": SimpleNamespace(TITLE="measures", STEPS=2, run=measure),
        "bad": SimpleNamespace(TITLE="cannot", STEPS=1, run=fail),
    }
    monkeypatch.setattr(main, "names", lambda: sorted(found))
    monkeypatch.setattr(main, "scenario", found.__getitem__)


@pytest.mark.usefixtures("two_scenarios")
def test_the_list_names_the_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(parse("--list")) == 0
    assert capsys.readouterr().out.split() == ["bad", "cannot", "good", "measures"]


@pytest.mark.usefixtures("two_scenarios")
def test_figures_are_shown_with_what_they_must_reach_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    assert main.run(parse("good", "--seconds", "4", "--json", str(path))) == 0
    out = capsys.readouterr().out
    assert "km/h" in out
    assert "≤ 5 ✓" in out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert [(one["scenario"], one["metric"], one["value"]) for one in written["results"]] == [
        ("good", "speed", 4)
    ]
    assert "cores" in written["machine"]


def test_scenarios_receive_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []

    def listen(options: Options, summary: Summary, step: Step) -> None:
        del summary, step
        asked.append(options)

    monkeypatch.setattr(main, "names", lambda: ["ear"])
    monkeypatch.setattr(main, "scenario", lambda _: SimpleNamespace(TITLE="", STEPS=1, run=listen))
    words = (
        "--seconds 2 --minutes 3 --terminals 4 --idle-terminals 5 --streams 6 --actors 7 --schedules 8"
        " --soak-streams 9 --soak-requests 10 --soak-sockets 11 --seed 12 --days 13"
        " --jobs 4,10 --server http://localhost:8082 --email me@example.org --password secret"
        " --device-port 14"
    )
    monkeypatch.delenv(main.EMAIL, raising=False)
    monkeypatch.delenv(main.PASSWORD, raising=False)
    assert main.run(parse("ear", *words.split(), "--kinds", "van, refuse truck")) == 0
    assert main.run(parse("ear")) == 0
    assert asked == [
        Options(
            seconds=2,
            minutes=3,
            terminals=4,
            idle_terminals=5,
            streams=6,
            actors=7,
            schedules=8,
            soak_streams=9,
            soak_requests=10,
            soak_sockets=11,
            seed=12,
            days=13,
            kinds=("van", "refuse truck"),
            jobs=(4, 10),
            server="http://localhost:8082",
            email="me@example.org",
            password="secret",
            device_port=14,
        ),
        Options(),
    ]


@pytest.mark.parametrize("jobs", ["9", "4,", "two"])
def test_jobs_are_numbers_of_those_that_there_are(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(parse("console", "--jobs", jobs)) == 2
    assert "--jobs takes numbers of 1, 2, 3, 4, 5, 6, 7, 8, 10" in capsys.readouterr().err


def test_the_account_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []
    module = SimpleNamespace(TITLE="", STEPS=1, run=lambda options, *_: asked.append(options))
    monkeypatch.setattr(main, "names", lambda: ["ear"])
    monkeypatch.setattr(main, "scenario", lambda _: module)
    monkeypatch.setenv(main.EMAIL, "me@example.org")
    monkeypatch.setenv(main.PASSWORD, "secret")
    assert main.run(parse("ear")) == 0
    assert main.run(parse("ear", "--email", "you@example.org")) == 0
    assert [(options.email, options.password) for options in asked] == [
        ("me@example.org", "secret"),
        ("you@example.org", "secret"),
    ]


@pytest.mark.parametrize("background", [False, True])
def test_sigterm_ends_a_scenario_as_ctrl_c_does(monkeypatch: pytest.MonkeyPatch, background: bool) -> None:
    ended = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await trio.sleep_forever()
        finally:
            ended.append(signal.SIGTERM)

    module = SimpleNamespace(TITLE="waits", STEPS=1, run=lambda *_: trio.run(work))
    monkeypatch.setattr(main, "names", lambda: ["waits"])
    monkeypatch.setattr(main, "scenario", lambda _: module)
    handlers = signal.SIG_IGN if background else signal.default_int_handler, signal.getsignal(signal.SIGTERM)
    before = signal.signal(signal.SIGINT, handlers[0])
    try:
        with pytest.raises(KeyboardInterrupt):
            main.run(parse("waits"))
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended


@pytest.mark.usefixtures("two_scenarios")
def test_an_earlier_run_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "before.json"
    assert main.run(parse("good", "--seconds", "2", "--json", str(path))) == 0
    assert main.run(parse("good", "--compare", str(path))) == 0
    assert "+50.0%" in capsys.readouterr().out


@pytest.mark.usefixtures("two_scenarios")
def test_a_scenario_that_cannot_be_measured_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(parse("bad", "good")) == 1
    out = capsys.readouterr().out
    assert "bad: there is no road" in out
    assert "km/h" in out


@pytest.mark.usefixtures("two_scenarios")
@pytest.mark.parametrize("words", [(), ("nonsense",), ("good", "--compare", "/nowhere.json")])
def test_a_wrong_command_line_is_one_line_and_code_2(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(parse(*words)) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("motorpool bench: ")
    assert captured.err.count("\n") == 1
