"""The list of scenarios."""

import pytest

from motorpool.bench.scenarios import names, scenario


def test_every_scenario_has_a_title_for_the_list() -> None:
    assert names() == [
        "api",
        "attack",
        "codecs",
        "console",
        "events",
        "fuzz",
        "idle",
        "ingest",
        "live",
        "mailbox",
        "mixed",
        "nodes",
        "play",
        "registration",
        "reports",
        "rolling",
        "schedules",
        "servers",
        "size",
        "soak",
        "stored",
        "storm",
        "tickets",
        "trips",
        "websocket",
    ]
    assert all(scenario(name).TITLE and scenario(name).STEPS > 0 for name in names())


def test_an_unknown_scenario_is_reported() -> None:
    with pytest.raises(KeyError):
        scenario("nonsense")
