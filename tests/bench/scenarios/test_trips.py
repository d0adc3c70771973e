"""The scenario `trips`."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from tests.bench.roads.samples import GOOD
from tests.bench.scenarios.staging import Stage

from motorpool.bench import measured_server
from motorpool.bench.figures import Summary
from motorpool.bench.measured_server import ForeignServer
from motorpool.bench.options import BenchError, Options
from motorpool.bench.phases.road_days import PlannedDay, RoadServer
from motorpool.bench.roads import KINDS
from motorpool.bench.roads.comparison import Comparison
from motorpool.bench.scenarios import scenario, trips
from motorpool.bench.server import Server
from motorpool.runtime.clock import SystemClock


@pytest.mark.long
def test_days_are_sent_and_their_reports_compared(
    monkeypatch: pytest.MonkeyPatch, start_server: Callable[..., AbstractContextManager[Server]]
) -> None:
    monkeypatch.setattr(trips, "run_server", start_server)
    summary, steps = Summary({}), list[str]()
    scenario("trips").run(Options(days=4, kinds=("excavator", "motorcycle")), summary, steps.append)
    figures = {figure.metric: figure.value for figure in summary.figures}
    days = figures["days"] + figures.get("intervals above 60 s: days", 0)
    assert days == 4
    assert figures["stops"] > 4
    # The rule is judged by the bench; whether anything was found says that days arrive and reports come back.
    assert figures["missed stops"] < figures["stops"]
    assert steps == ["day 1 of 4", "day 2 of 4", "day 3 of 4", "day 4 of 4"]


class Measured:
    """What the scenario has measured, in place of doing so."""

    def __init__(self) -> None:
        self.server: RoadServer | None = None
        self.plans: Sequence[PlannedDay] = ()
        self.first_number = 0

    async def measure(
        self,
        server: RoadServer,
        plans: Sequence[PlannedDay],
        first_number: int,
        done: Callable[[], None],
    ) -> list[Comparison]:
        self.server, self.plans, self.first_number = server, plans, first_number
        for _ in plans:
            done()
        return [GOOD] * len(plans)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    found = Measured()
    monkeypatch.setattr(trips, "measure_days", found.measure)
    return found


def test_a_server_of_its_own_takes_both_protocols(stage: Stage, measured: Measured) -> None:
    figures, _, server = stage.run(trips, Options(days=25, seed=3), lambda _: {}, {})
    assert figures["days"].value == 25
    assert measured.server == RoadServer(
        url=server.url,
        email="bench@example.org",
        password=server.password,
        host=server.host,
        ports={"jt808": 5015, "osmand": 5055},
    )
    # Twelve digits: a telephone number of JT/T 808.
    assert len(str(measured.first_number + 999)) == 12
    assert {plan.kind for plan in measured.plans} == set(KINDS)
    assert len({(plan.kind, plan.seed) for plan in measured.plans}) == 25
    assert min(plan.seed for plan in measured.plans) == 30_000
    (start,) = {plan.start for plan in measured.plans}
    assert timedelta(days=2) <= SystemClock().now() - start < timedelta(days=3)
    assert start.timetz() == datetime.min.replace(tzinfo=UTC).timetz()


def test_one_protocol_can_be_chosen(stage: Stage, measured: Measured) -> None:
    stage.run(trips, Options(days=1, protocol="osmand", kinds=("van",)), lambda _: {}, {})
    assert measured.server is not None
    assert measured.server.ports == {"osmand": 5055}
    assert [plan.kind for plan in measured.plans] == ["van"]


@pytest.mark.parametrize(
    ("more", "ports"),
    [
        ({}, {"osmand": 5055}),
        ({"ports": {"osmand": 6055}}, {"osmand": 6055}),
        ({"protocol": "jt808"}, {"jt808": 5015}),
    ],
)
def test_another_server_is_measured_in_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
    stage: Stage,
    measured: Measured,
    more: dict[str, object],
    ports: dict[str, int],
) -> None:
    monkeypatch.setattr(ForeignServer, "session_cookie", lambda _: "")
    monkeypatch.setattr(measured_server.socket, "create_connection", lambda *_: Mock())
    options = {"server": "https://traccar.example.org:8443/", "email": "me@example.org", "password": "secret"}
    stage.run(trips, Options(days=2, **options | more), lambda _: {}, {})  # type: ignore[arg-type]
    assert measured.server == RoadServer(
        url="https://traccar.example.org:8443",
        email="me@example.org",
        password="secret",
        host="traccar.example.org",
        ports=ports,  # type: ignore[arg-type]
        is_kept=True,
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kinds": ("van", "ship")}, "no kind ship; there are van, bus"),
        ({"protocol": "gt06"}, "trips are sent by jt808 or osmand"),
        ({"server": "traccar.example.org", "email": "a", "password": "b"}, "is no address such as"),
        ({"server": "http://traccar.example.org"}, "--server needs --email and --password"),
        ({"days": 0}, "trips needs a day"),
    ],
)
@pytest.mark.usefixtures("measured")
def test_options_that_cannot_be(stage: Stage, options: dict[str, object], problem: str) -> None:
    with pytest.raises(BenchError, match=problem):
        stage.run(trips, Options(**options), lambda _: {}, {})  # type: ignore[arg-type]


def test_steps_are_as_many_as_the_progress_bar_has() -> None:
    steps: list[str] = []
    done = trips.steps(200, steps.append)
    for _ in range(200):
        done()
    assert len(steps) == trips.STEPS
    assert steps[:2] == ["day 1 of 200", "day 11 of 200"]
