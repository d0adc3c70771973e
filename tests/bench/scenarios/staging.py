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
from motorpool.bench.load.plan import Mark, TerminalResult
from motorpool.bench.options import Options
from motorpool.bench.scenarios import scenario

Answer = Callable[[httpx.Request], object]
T = TypeVar("T", bound=msgspec.Struct)

NOTHING: Mapping[object, object] = {
    int: 0,
    float: 0.0,
    tuple[int, ...]: (),
    tuple[float, ...]: (),
    tuple[str, ...]: (),
}


def result(kind: type[T], **values: object) -> T:
    """Return a result with these values, and with none of all else."""
    empty = {field.name: NOTHING.get(field.type) for field in msgspec.structs.fields(kind)}
    return kind(**(empty | values))


def terminals(answers: int, seconds: float = 1.0, **values: object) -> TerminalResult:
    """Return what terminals say whose messages were answered so often."""
    return result(TerminalResult, answers=answers, seconds=seconds, **values)


class StagedServer:
    """Answers requests as the test does."""

    host = "127.0.0.1"
    url = "http://127.0.0.1:8082"
    offset = 0
    jt808_port = 5015
    osmand_port = 5055
    media_ports = (1078, 1079)
    password = "secret"

    def __init__(self, folder: Path, answer: Answer) -> None:
        self.folder = folder
        (folder / "server.log").write_bytes(b"")
        self.asked: list[httpx.Request] = []
        self.statements: list[str] = []
        self._answer = answer
        self._seconds = 0.0

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

    database_cpu_seconds = cpu_seconds

    def resident_bytes(self) -> int:
        return 100_000_000

    def database_settings(self) -> dict[str, str]:
        return {"fsync": "on"}

    def database_address(self) -> dict[str, str]:
        return {}

    def run_sql(self, statement: str) -> None:
        self.statements.append(statement)


class StagedProgram:
    """A load program that has what it says."""

    def __init__(self, results: Mapping[type, Any]) -> None:
        self._results = results

    def wait_for(self, kind: type, _seconds: float, _wanted: object = None) -> Any:
        return Mark("ready") if kind is Mark else self._results[kind]

    def stop(self) -> None:
        """It has said everything."""


class Stage:
    """What a scenario meets: `results` of load programs by their names, one after the other."""

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
            yield StagedProgram({type(said): said})

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
