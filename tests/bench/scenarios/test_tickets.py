"""The scenario `tickets`."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.bench.scenarios.staging import StagedProgram, StagedServer, missed, result, terminals

from motorpool.bench.figures import Summary
from motorpool.bench.load.plan import RequestResult, WebhookResult
from motorpool.bench.options import BenchError, Options
from motorpool.bench.phases import breaches
from motorpool.bench.scenarios import scenario, tickets
from motorpool.bench.server import Server
from motorpool.bench.usage import Usage


@pytest.mark.long
def test_tickets_are_created_sent_to_webhooks_and_settled_after_a_restart(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]], measure: Any
) -> None:
    monkeypatch.setattr(tickets, "run_server", start_server)
    monkeypatch.setattr(tickets, "COMPANIES", 3)
    monkeypatch.setattr(breaches, "OVERDUE_SECONDS", 1.0)
    monkeypatch.setattr(tickets, "AHEAD_SECONDS", 1.0)
    options = Options(seconds=2, terminals=5, tickets=20, overdue=30)
    summary, figures, steps = measure("tickets", options, {"tickets created": 0})
    assert len(steps) == scenario("tickets").STEPS
    assert summary.notes == []
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


def test_companies_get_a_webhook_each_and_a_request_that_creates_a_ticket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tickets, "COMPANIES", 2)
    ids = iter(range(1, 100))

    def answer(request: httpx.Request) -> object:
        statuses = [{"id": 7, "kind": "open"}, {"id": 8, "kind": "new"}]
        return {"id": next(ids), "statuses": statuses}

    server = StagedServer(tmp_path, answer)
    first, second = tickets._make_companies(server.client(), "http://127.0.0.1:1/tickets")
    assert (first.status_id, second.status_id) == (8, 8)
    bodies = [json.loads(request.content) for request in server.asked]
    made = [body for body in bodies if "ticketWebhook" in body.get("attributes", {})]
    assert len({body["attributes"]["ticketWebhook"]["secret"] for body in made}) == 2
    head, _, body = tickets._creation(second, "a token").partition("\r\n\r\n")
    assert f"Content-Length: {len(body)}" in head
    assert "Authorization: Bearer a token" in head
    wanted = {"companyId": second.id, "priorityId": second.priority_id}
    assert {name: json.loads(body)[name] for name in wanted} == wanted
    refusing = StagedServer(tmp_path, lambda _: httpx.Response(400, text="no")).client()
    with pytest.raises(BenchError, match="POST /companies answered 400: no"):
        tickets._make_companies(refusing, "")


def test_tickets_and_webhooks_that_went_wrong_miss_their_goals() -> None:
    summary = Summary({})
    asked = result(RequestResult, failures=1, reasons=("POST /api/tickets: 500",))
    tickets._report_creation(summary, asked, terminals(10, 2.0, rejected=3), Usage(1.0, 0.5, 0.25, 0.0))
    figures = {figure.metric: figure.value for figure in summary.figures}
    assert (figures["positions beside"], figures["server at work"]) == (5, 0.5)
    assert summary.notes == ["tickets: POST /api/tickets: 500"]
    assert missed(summary) == {"tickets refused or unanswered", "positions refused"}
    received = StagedProgram([result(WebhookResult, messages=8, out_of_order=1, repeated=2)])
    tickets._report_webhooks(summary, received, 10)
    assert {"webhooks missing", "webhooks out of order"} <= missed(summary)
    assert {figure.metric: figure.value for figure in summary.figures}["webhooks missing"] == 2
