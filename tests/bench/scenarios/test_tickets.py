"""The scenario `tickets`, for a moment, so that it cannot rot."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from motorpool.bench.options import Options
from motorpool.bench.phases import breaches
from motorpool.bench.scenarios import scenario, tickets
from motorpool.bench.server import Server


@pytest.mark.long
def test_tickets_are_created_sent_to_webhooks_and_settled_after_a_restart(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(tickets, "run_server", start_server)
    monkeypatch.setattr(tickets, "COMPANIES", 3)
    monkeypatch.setattr(breaches, "OVERDUE_SECONDS", 1.0)
    monkeypatch.setattr(tickets, "AHEAD_SECONDS", 1.0)
    options = Options(seconds=2, terminals=5, tickets=20, overdue=30)
    report, figures, steps = measure("tickets", options, {"tickets created": 0})
    assert len(steps) == scenario("tickets").STEPS
    assert report.notes == []
    assert figures["tickets created"].value > 0
    assert figures["overdue tickets"].value == 30
    for metric in (
        "tickets refused or unanswered",
        "positions refused",
        "overdue tickets breached twice",
        "webhooks missing",
        "webhooks out of order",
    ):
        assert figures[metric].value == 0
