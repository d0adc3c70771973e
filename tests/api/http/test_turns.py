"""Turns at long answers: few at a time for each user."""

import pytest
import trio
from tests.api.cases import on_one_server
from trio.testing import wait_all_tasks_blocked

from motorpool.api.http.turns import AT_ONCE, Turns


class Answer:
    """A long answer whose pieces are made when the test says so."""

    def __init__(self, turns: Turns, user_id: int, pieces: int = 3) -> None:
        self.turns, self.user_id, self.count = turns, user_id, pieces
        self.begun = 0
        self.received: list[int] = []
        self.make, self.made = trio.open_memory_channel[None](100)
        self.closed = False

    async def _pieces(self):
        try:
            for number in range(self.count):
                self.begun += 1
                await self.made.receive()
                yield number
        finally:
            self.closed = True

    async def run(self) -> None:
        async for piece in self.turns.pieces(self.user_id, self._pieces()):
            self.received.append(piece)


async def test_of_the_answers_of_a_user_few_are_made_at_once_and_others_do_not_wait() -> None:
    turns = Turns()
    mine = [Answer(turns, 1) for _ in range(5)]
    other = Answer(turns, 2)
    async with trio.open_nursery() as nursery:
        for each in (*mine, other):
            nursery.start_soon(each.run)
            await wait_all_tasks_blocked()
        assert [each.begun for each in mine] == [1] * AT_ONCE + [0] * (5 - AT_ONCE)
        assert other.begun == 1
        for _ in range(3):
            # Each gets its next turn after those who asked before it.
            for each in mine:
                each.make.send_nowait(None)
                await wait_all_tasks_blocked()
        other.make.send_nowait(None)
        await wait_all_tasks_blocked()
        assert [each.received for each in mine] == [[0, 1, 2]] * 5
        assert other.received == [0]
        nursery.cancel_scope.cancel()


async def test_a_piece_that_nobody_takes_holds_no_turn() -> None:
    turns = Turns()
    stalled = [Answer(turns, 1) for _ in range(AT_ONCE)]
    streams = [turns.pieces(1, each._pieces()) for each in stalled]
    for each, stream in zip(stalled, streams, strict=True):
        each.make.send_nowait(None)
        assert await anext(stream) == 0
    free = Answer(turns, 1, pieces=1)
    free.make.send_nowait(None)
    with trio.fail_after(120):
        await free.run()
    assert free.received == [0]
    for each, stream in zip(stalled, streams, strict=True):
        await stream.aclose()
        assert each.closed


async def test_an_error_ends_the_answer_and_its_turn() -> None:
    turns = Turns()

    async def fails():
        yield 1
        raise ValueError("a fault")

    for _ in range(AT_ONCE + 1):
        stream = turns.pieces(1, fails())
        assert await anext(stream) == 1
        with pytest.raises(ValueError, match="a fault"):
            await anext(stream)
    assert turns.of(1).value == AT_ONCE


SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
LONG_ANSWERS = (
    "/devices",
    "/users?limit=51",
    "/positions",
    f"/positions?deviceId={{}}&{SPAN}",
    f"/positions/csv?deviceId={{}}&{SPAN}",
    f"/positions/kml?deviceId={{}}&{SPAN}",
    f"/reports/route?deviceId={{}}&{SPAN}",
    f"/reports/trips?deviceId={{}}&{SPAN}",
    f"/reports/combined?deviceId={{}}&{SPAN}",
    f"/events?deviceId={{}}&{SPAN}",
    f"/audit?{SPAN}",
    "/tickets",
    "/tickets/{}/events",
)


@pytest.fixture
async def device_id(served):
    """A device with a position."""
    number = await served.device(served.admin, "1")
    await served.report(served.position(number))
    return number


@on_one_server("path", LONG_ANSWERS)
async def test_each_long_answer_takes_turns(served, device_id, monkeypatch, path) -> None:
    wanted = device_id
    if path.startswith("/tickets/"):
        company = (await served.admin.post("/companies", json={"name": "x"})).json()["id"]
        await served.admin.post(f"/tickets/defaults?companyId={company}")
        ticket = await served.admin.post("/tickets", json={"companyId": company, "subject": "x"})
        wanted = ticket.json()["id"]
    taken = []
    of = Turns.of
    with monkeypatch.context() as patched:
        patched.setattr(Turns, "of", lambda turns, user_id: taken.append(user_id) or of(turns, user_id))
        answer = await served.admin.get(path.format(wanted))
    assert answer.status == 200, answer.text
    assert set(taken) == {served.admin_id}
