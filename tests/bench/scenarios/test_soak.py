"""The scenario `soak`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.bench.scenarios.staging import missed, result, terminals

from motorpool.bench.figures import Summary
from motorpool.bench.growth import Sample
from motorpool.bench.load.plan import ChurnResult, RequestResult, ViewerResult
from motorpool.bench.options import Options
from motorpool.bench.phases import broadcast
from motorpool.bench.scenarios import scenario, soak
from motorpool.bench.server import Server
from motorpool.bench.vehicles.media_loop import LoopUnit


@pytest.mark.long
def test_soak_samples_a_server_under_every_kind_of_load(
    monkeypatch: pytest.MonkeyPatch,
    start_server: Callable[..., AbstractContextManager[Server]],
    loop: list[LoopUnit],
    measure: Any,
) -> None:
    monkeypatch.setattr(soak, "run_server", start_server)
    monkeypatch.setattr(soak.media_loop, "make_loop", lambda: loop)
    monkeypatch.setattr(soak, "REST_SECONDS", 0.2)
    # How soon a busy machine lets streams and connections end is no matter of this test.
    monkeypatch.setattr(soak, "LEFT_FILES", 1000)
    monkeypatch.setattr(soak, "LEFT_TASKS", 1000)
    monkeypatch.setattr(soak, "NOISE_MB", 1000)
    monkeypatch.setattr(broadcast, "STARTS_PER_SECOND", 100.0)
    options = Options(seconds=1, terminals=4, soak_streams=2, soak_requests=8, soak_sockets=2)
    kinds = ("terminals", "osmand", "edits", "sessions", "sockets", "messages")
    summary, figures, steps = measure(
        "soak", options, {"positions": 0, **{f"churn: {kind}": 0 for kind in kinds}}
    )
    assert len(steps) == scenario("soak").STEPS
    assert figures["positions"].value > 0
    assert figures["API requests failed"].value == 0
    assert figures["churn: failed"].value == 0
    for kind in kinds:
        assert figures[f"churn: {kind}"].value > 0
    assert figures["rows of positions"].value > 0
    assert figures["memory at the start"].value > 0
    assert figures["tasks, most"].value > 0
    assert figures["descriptors, most"].value > 0
    assert figures["actors crashed"].value == 0
    assert [sample["seconds"] for sample in summary.samples] == sorted(s["seconds"] for s in summary.samples)


def samples(memory: Callable[[float], float]) -> list[Sample]:
    """An hour in which memory is what is said of its minutes, in MB."""
    open_now = {"tasks": 50, "open_files": 40}
    return [
        result(Sample, seconds=60.0 * minute, resident_bytes=int(memory(minute) * 1e6), **open_now)
        for minute in range(61)
    ]


@pytest.mark.parametrize(
    ("memory", "grows"),
    [
        # Caches fill in the first third, which is not judged.
        (lambda minute: 100 + min(minute, 20), False),
        (lambda minute: 100 + minute, True),
    ],
    ids=["full", "leaking"],
)
def test_memory_that_grows_after_the_warm_up_is_a_failure(
    memory: Callable[[float], float], grows: bool
) -> None:
    summary, hour = Summary({}), samples(memory)
    soak._report_samples(summary, 3600.0, hour[0], hour, hour[-1])
    figures = {figure.metric: figure.value for figure in summary.figures}
    assert (figures["memory at the start"], figures["memory, most"]) == (100, memory(60))
    assert missed(summary) == ({"memory growth after the warm-up"} if grows else set())
    assert soak._is_missed(summary, "memory growth after the warm-up") == grows


def test_what_is_left_after_the_rest_is_a_failure() -> None:
    summary, hour = Summary({}), samples(lambda _: 100)
    left = result(Sample, seconds=3700.0, resident_bytes=10**8, tasks=75, open_files=65)
    soak._report_samples(summary, 3600.0, hour[0], hour, left)
    assert missed(summary) == {"tasks left", "descriptors left"}


def test_load_that_failed_misses_its_goals() -> None:
    summary = Summary({})
    soak._report_load(
        summary,
        terminals(10, 2.0, rejected=1),
        result(RequestResult, seconds=2.0, answers=6, failures=1, reasons=("GET: 500",)),
        ChurnResult(counts={"edits": 4, "messages": 5}, failures=2, reasons=("an edit: 409",)),
        result(ViewerResult, segments=3),
    )
    figures = {figure.metric: (figure.value, figure.unit) for figure in summary.figures}
    assert figures["positions"] == (5, "messages/s")
    assert figures["churn: edits"] == (4, "times")
    assert missed(summary) == {"positions rejected", "API requests failed", "churn: failed"}
    assert summary.notes == ["soak: GET: 500", "soak: an edit: 409"]
    soak._report_tables(summary, {"positions": 3, "events": 1}, {"positions": 9, "events": 1})
    assert summary.figures[-1].metric == "rows of positions"
    assert summary.figures[-1].value == 6
