"""A server and load programs that say what a test gives them, for scenarios to make figures of."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import httpx
import msgspec
import pytest

from motorpool.bench.figures import Figure, Summary
from motorpool.bench.latencies import Latencies
from motorpool.bench.load.plan import Mark, TerminalResult
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario
from motorpool.bench.server import Server

Answer = Callable[[httpx.Request], object]
T = TypeVar("T", bound=msgspec.Struct)

NOTHING: Mapping[object, object] = {
    int: 0,
    float: 0.0,
    tuple[int, ...]: (),
    tuple[float, ...]: (),
    tuple[str, ...]: (),
    Latencies: Latencies(),
}


def latencies(p50_ms: float, p99_ms: float) -> Latencies:
    """Return a hundred latencies with these percentiles."""
    return Latencies.of([p50_ms / 1000] * 60 + [p99_ms / 1000] * 40)


def result(kind: type[T], **values: Any) -> T:
    """Return a result with these values, `p50_ms` and `p99_ms` as latencies, and with none of all else."""
    if "p99_ms" in values:
        p99_ms = values.pop("p99_ms")
        values["latencies"] = latencies(values.pop("p50_ms", p99_ms), p99_ms)
    empty = {field.name: NOTHING.get(field.type) for field in msgspec.structs.fields(kind)}
    return kind(**(empty | values))


def terminals(answers: int, seconds: float = 1.0, **values: Any) -> TerminalResult:
    """Return what terminals say whose messages were answered so often."""
    return result(TerminalResult, answers=answers, seconds=seconds, **values)


class StagedServer(Server):
    """Answers requests as the test does."""

    def __init__(self, folder: Path, answer: Answer) -> None:
        self.host = "127.0.0.1"
        self.url = "http://127.0.0.1:8082"
        self.offset = 0
        self.password = "secret"
        self.folder = folder
        (folder / "server.log").write_bytes(b"")
        self.asked: list[httpx.Request] = []
        self.statements: list[str] = []
        self._answer = answer
        self._seconds = 0.0

    def session_cookie(self) -> str:
        return "JSESSIONID=staged"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"{self.url}/api", transport=httpx.MockTransport(self._handle))

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answer(request)
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(200, text=answer if isinstance(answer, str) else json.dumps(answer))

    def cpu_seconds(self) -> float:
        """One more at each reading."""
        self._seconds += 1.0
        return self._seconds

    def database_cpu_seconds(self) -> float:
        return self._seconds / 2

    def waiting_seconds(self) -> float:
        return 0.0

    def database_bytes(self) -> float:
        return 50_000_000

    def resident_bytes(self) -> int:
        return 100_000_000

    def database_settings(self) -> dict[str, str]:
        return {"fsync": "on"}

    def database_address(self) -> dict[str, str]:
        return {}

    def run_sql(self, statement: str) -> None:
        self.statements.append(statement)


class StagedProgram:
    """A load program that has what it says, one after the other."""

    def __init__(self, results: list[Any]) -> None:
        self._results = results

    def wait_for(self, kind: type, _seconds: float, _wanted: object = None) -> Any:
        if kind is Mark:
            return Mark("ready")
        said = self._results.pop(0)
        assert isinstance(said, kind)
        return said

    def send_line(self, line: str) -> None:
        """It knows what it says."""

    def stop(self) -> None:
        """It has said everything."""


class Stage:
    """What a scenario meets: `results` of load programs by their names, one after the other.

    One that says several things has a list of them.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._folder = folder
        self.loads: list[tuple[str, Any]] = []

    def run(
        self,
        module: ModuleType,
        options: Options,
        answer: Answer,
        results: Mapping[str, list[Any]],
        *others: ModuleType,
    ) -> tuple[dict[str, Figure], Summary, StagedServer]:
        """Run a scenario; `others` are modules besides that run load programs."""
        server = StagedServer(self._folder, answer)
        left = {name: list(given) for name, given in results.items()}

        @contextmanager
        def run_server(*_: object) -> Iterator[StagedServer]:
            yield server

        @contextmanager
        def run_program(name: str, load: Any) -> Iterator[StagedProgram]:
            self.loads.append((name, load))
            said = left[name].pop(0)
            yield StagedProgram(said if isinstance(said, list) else [said])

        self._monkeypatch.setattr(module, "run_server", run_server)
        for each in (module, *others):
            if hasattr(each, "run_program"):
                self._monkeypatch.setattr(each, "run_program", run_program)
        summary = Summary({})
        scenario(module.__name__.rpartition(".")[2]).run(options, summary, lambda _: None)
        assert not any(left.values()), "results that were not asked for"
        return {figure.metric: figure for figure in summary.figures}, summary, server


def missed(summary: Summary) -> set[str]:
    """Return the metrics that miss a goal."""
    return {
        figure.metric
        for figure in summary.figures
        if not all(goal.is_met(figure) for goal in summary.goals_of(figure))
    }
