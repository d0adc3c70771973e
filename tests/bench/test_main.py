"""The command line of `motorpool bench`."""

import argparse
import io
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from rich.console import Console

from motorpool.bench import main
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import BenchError, NotThereError, Options, Step
from motorpool.bench.tables import figure_table


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
        "good": SimpleNamespace(TITLE="measures", SERVER="any", STEPS=2, run=measure),
        "bad": SimpleNamespace(TITLE="cannot", SERVER="own", STEPS=1, run=fail),
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
    monkeypatch.setattr(
        main, "scenario", lambda _: SimpleNamespace(TITLE="", SERVER="any", STEPS=1, run=listen)
    )
    monkeypatch.setattr(main, "_OPTIONS_OF", {})
    monkeypatch.setattr(main, "log_in", lambda *_: None)
    words = (
        "--seconds 2 --minutes 3 --terminals 4 --idle-terminals 5 --streams 6 --actors 7 --schedules 8"
        " --soak-streams 9 --soak-requests 10 --soak-sockets 11 --seed 12 --days 13"
        " --jobs 4,10 --server http://localhost:8082 --email me@example.org --password secret"
        " --port jt808=14 --port osmand=15 --database-pid 16 --clients 2 --ramp --bound 17 --sockets 18"
        " --vehicles 19"
    )
    monkeypatch.delenv(main.EMAIL, raising=False)
    monkeypatch.delenv(main.PASSWORD, raising=False)
    assert main.run(parse("ear", *words.split(), "--kinds", "van, refuse truck")) == 0
    assert main.run(parse("ear")) == 0
    assert main.run(parse("ear", "--nodes", "3")) == 0
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
            ports={"jt808": 14, "osmand": 15},
            database_pid=16,
            clients=2,
            ramp=True,
            bound_ms=17,
            sockets=18,
            vehicles=19,
        ),
        Options(),
        Options(nodes=3),
    ]


@pytest.mark.parametrize("jobs", ["11", "4,", "two"])
def test_jobs_are_numbers_of_those_that_there_are(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(parse("console", "--jobs", jobs)) == 2
    assert "--jobs takes numbers of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10" in capsys.readouterr().err


def test_one_server_is_not_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(parse("servers", "--servers", "1")) == 2
    assert "--servers takes a number from 2 on" in capsys.readouterr().err


def test_the_account_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []
    module = SimpleNamespace(TITLE="", SERVER="any", STEPS=1, run=lambda options, *_: asked.append(options))
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

    module = SimpleNamespace(TITLE="waits", SERVER="own", STEPS=1, run=lambda *_: trio.run(work))
    monkeypatch.setattr(main, "names", lambda: ["waits"])
    monkeypatch.setattr(main, "scenario", lambda _: module)
    handlers = signal.SIG_IGN if background else signal.default_int_handler, signal.getsignal(signal.SIGTERM)
    before = signal.signal(signal.SIGINT, handlers[0])
    try:
        assert main.run(parse("waits")) == main.INTERRUPTED
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended


@pytest.mark.usefixtures("two_scenarios")
def test_earlier_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / name) for name in ("before.json", "after.json")]
    for path, seconds in zip(paths, ("2", "3"), strict=True):
        assert main.run(parse("good", "--seconds", seconds, "--json", path)) == 0
    page, written = tmp_path / "run.html", tmp_path / "run.json"
    assert main.run(parse("good", "--compare", *paths, "--html", str(page), "--json", str(written))) == 0
    assert "1.500" in capsys.readouterr().out
    assert "1.500" in page.read_text(encoding="utf-8")
    (change,) = json.loads(written.read_text(encoding="utf-8"))["changes"]
    assert (change["before"], change["after"], change["low"]) == (2, 3, None)


@pytest.mark.usefixtures("two_scenarios")
def test_a_server_is_measured_beside_this_checkout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "log_in", lambda *_: None)
    monkeypatch.chdir(Path(main.__file__).resolve().parent.parent)
    words = "good", "--compare", "http://127.0.0.1:9", ".", "--repeats", "3"
    assert main.run(parse(*words)) == 0
    assert "1.000 to 1.000" in capsys.readouterr().out


@pytest.mark.usefixtures("two_scenarios")
def test_without_a_name_the_default_set_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "DEFAULT", ("good",))
    assert main.run(parse()) == 0
    assert "km/h" in capsys.readouterr().out
    monkeypatch.setattr(main, "DEFAULT_SECONDS", -1.0)
    assert main.run(parse()) == 0
    assert "good: left out, since the others took so long" in capsys.readouterr().out
    assert main.run(parse("good")) == 0
    assert "km/h" in capsys.readouterr().out


@pytest.mark.usefixtures("two_scenarios")
def test_what_the_server_lacks_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise NotThereError("there is no port")

    module = SimpleNamespace(TITLE="", SERVER="any", STEPS=1, run=fail)
    monkeypatch.setattr(main, "scenario", lambda _: module)
    assert main.run(parse("good")) == 0
    out = capsys.readouterr().out
    assert "not there" in out
    assert "there is no port" in out


@pytest.mark.usefixtures("two_scenarios")
def test_a_scenario_that_cannot_be_measured_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main.run(parse("bad")) == 1
    assert capsys.readouterr().out.strip() == "· bad: there is no road"
    assert main.run(parse("bad", "good")) == 1
    out = capsys.readouterr().out
    assert "bad: there is no road" in out
    assert "km/h" in out


@pytest.mark.usefixtures("two_scenarios")
@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("good", "--compare", "/nowhere.json", "."),
        ("good", "--compare", "http://127.0.0.1:9", ".", "--baseline"),
        ("bad", "--compare", "http://127.0.0.1:9", "."),
        ("bad", "--server", "http://127.0.0.1:9"),
        ("good", "--server", "http://127.0.0.1:9", "--baseline"),
        ("good", "--port", "jt808"),
        ("good", "--port", "nothing=5"),
        ("good", "--port", "jt808=0", "--server", "http://127.0.0.1:9"),
        ("good", "--port", "jt808=65536", "--server", "http://127.0.0.1:9"),
        ("good", "--port", "jt808=5015"),
        ("good", "--port", "jt808=1,2,3", "--server", "http://127.0.0.1:9"),
        ("good", "--compare", "http://127.0.0.1:9", "http://127.0.0.1:8", "--port", "jt808=5015"),
        ("good", "--database-pid", "5"),
        ("good", "--ramp"),
        ("good", "--udp"),
        ("good", "--nodes", "2"),
        ("good", "--kinds", "van"),
        ("good", "--json", "/nowhere/run.json"),
        ("good", "--html", "/"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_code_2(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(parse(*words)) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("motorpool bench: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        "--terminals 0",
        "--clients -1",
        "--repeats 0",
        "--seconds 0",
        "--bound nan",
        "--minutes inf",
        "--sockets x",
    ],
)
def test_numbers_that_nothing_could_be_measured_with_are_refused(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(*words.split())
    assert f"{words.split()[1]} is not a" in capsys.readouterr().err


@pytest.mark.usefixtures("two_scenarios")
@pytest.mark.parametrize(
    ("error", "code"), [(KeyError("uniqueId"), 1), (KeyboardInterrupt(), main.INTERRUPTED)]
)
def test_figures_are_kept_whatever_ends_a_later_scenario(
    error: BaseException,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise error

    good = main.scenario("good")
    bad = SimpleNamespace(TITLE="", SERVER="own", STEPS=1, run=fail)
    monkeypatch.setattr(main, "scenario", lambda name: good if name == "good" else bad)
    path = tmp_path / "run.json"
    assert main.run(parse("good", "bad", "--json", str(path), "--baseline")) == code
    out = capsys.readouterr().out
    assert "km/h" in out
    assert "the baseline was not kept" in out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["results"]
    assert ("bad: KeyError: 'uniqueId'" in written["notes"]) == (code == 1)
    assert any(note.startswith("interrupted") for note in written["notes"]) == (code != 1)


@pytest.mark.usefixtures("two_scenarios")
def test_whole_turns_of_a_comparison_are_kept_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = str(Path(main.__file__).resolve().parent.parent)
    good = main.scenario("good")
    runs = 0

    def run(options: Options, summary: Summary, step: Step) -> None:
        nonlocal runs
        runs += 1
        if runs == 4:
            raise KeyboardInterrupt
        good.run(options, summary, step)

    scenario = SimpleNamespace(TITLE="", SERVER="own", STEPS=1, run=run)
    monkeypatch.setattr(main, "scenario", lambda _: scenario)
    path = tmp_path / "run.json"
    assert main.run(parse("good", "--compare", here, here, "--json", str(path))) == main.INTERRUPTED
    assert "km/h" in capsys.readouterr().out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert [change["ratio"] for change in written["changes"]] == [1.0]
    assert any(note.startswith("interrupted") for note in written["notes"])


@pytest.mark.usefixtures("two_scenarios")
def test_a_file_that_cannot_be_written_costs_neither_the_table_nor_the_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    assert main.run(parse("good", "--json", "/dev/full", "--html", str(page))) == 1
    captured = capsys.readouterr()
    assert "km/h" in captured.out
    assert "No space left" in captured.err
    assert "km/h" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("two_scenarios")
def test_earlier_runs_of_different_scenarios_have_nothing_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As with `motorpool bench --compare bench/baseline.json today.json`: nothing is to be measured.
    monkeypatch.setattr(main, "DEFAULT", ("good",))
    paths = [str(tmp_path / name) for name in ("before.json", "after.json")]
    for path in paths:
        assert main.run(parse("good", "--json", path)) == 0
    assert main.run(parse("--compare", *paths)) == 0
    assert main.run(parse("bad", "--compare", *paths)) == 1
    assert "no figure of the same scenario" in capsys.readouterr().out


def test_of_the_default_set_a_comparison_measures_what_its_sides_allow(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert main._default(parse()) == list(main.DEFAULT)
    assert "mailbox" not in main._default(parse("--compare", folder, folder))
    assert "live" in main._default(parse("--compare", folder, folder))
    assert "live" not in main._default(parse("--compare", folder, "http://127.0.0.1:9"))
    assert "ingest" in main._default(parse("--server", "http://127.0.0.1:9"))


def test_two_servers_of_one_host_have_ports_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str | None, int]] = []

    def listen(options: Options, summary: Summary, step: Step) -> None:
        del step
        asked.append((options.server, options.ports["jt808"]))
        summary.add("ear", "heard", 1, "")

    module = SimpleNamespace(TITLE="", SERVER="any", STEPS=1, run=listen)
    monkeypatch.setattr(main, "names", lambda: ["ear"])
    monkeypatch.setattr(main, "scenario", lambda _: module)
    monkeypatch.setattr(main, "log_in", lambda *_: None)
    first, second = "http://127.0.0.1:9", "http://127.0.0.1:8"
    words = ("ear", "--compare", first, second, "--repeats", "1", "--port", "jt808=5015,6015")
    assert main.run(parse(*words)) == 0
    assert asked == [(first, 5015), (second, 6015)]


def test_datagrams_are_those_of_a_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(parse("ingest", "--udp")) == 2
    assert capsys.readouterr().err == "motorpool bench: --udp is of --protocol\n"


def test_the_table_fits_into_80_columns_and_cuts_nothing() -> None:
    summary = Summary({})
    goals = (Goal(12_000, at_least=True), Goal(0.5, at_least=True, of_ratio=True))
    metric = "known terminals refused or not answered"
    summary.add("registration", metric, 18_000, "messages/s", reference="echo", beside=30_000, goals=goals)
    summary.add_absent("registration", "database CPU", "µs", "the server is not on this machine")
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(figure_table(summary))
    shown = console.export_text()
    assert "…" not in shown
    assert {*metric.split(), "machine", "messages/s", "echo", "12000", "0.5", "✓"} <= set(shown.split())
