"""The scenario `attack`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from motorpool.bench.load.attackers import ATTACKS
from motorpool.bench.options import Options
from motorpool.bench.scenarios import attack
from motorpool.bench.server import Server


@pytest.mark.long
def test_terminals_report_and_the_server_answers_through_all_attacks(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(attack, "run_server", start_server)
    monkeypatch.setattr(attack, "SCALE", 0.02)
    report, figures, _ = measure(
        "attack", Options(seconds=0.5, terminals=20), {"terminals alone": 0, "terminals under attack": 0}
    )
    assert figures["terminals under attack"].value > 0
    assert figures["GET /devices afterwards"].value > 0
    refused = [note for note in report.notes if "rejected" in note]
    assert all(": 0 messages rejected" in note for note in refused)
    for name in ATTACKS:
        assert any(note.startswith(f"{name}: ") for note in report.notes)
