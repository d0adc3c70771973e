"""The scenario `soak`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

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
    report, figures, steps = measure(
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
    assert [sample["seconds"] for sample in report.samples] == sorted(s["seconds"] for s in report.samples)
