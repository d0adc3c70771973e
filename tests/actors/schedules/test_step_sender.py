"""One step to its device, and what is said of it; the device is a stranger that does anything."""

from datetime import UTC, datetime
from inspect import isawaitable

import pytest
import trio

from motorpool.actors.messages.uplink import DEVICE, CommandQueued, CommandRefused, CommandSent, SendCommand
from motorpool.actors.schedules.step_sender import SEND_SECONDS, send_step
from motorpool.runtime import Actor, DynamicSpec, Failure
from motorpool.storage.errors import StatementRejected, StorageUnavailable
from motorpool.storage.records import QueuedCommand
from motorpool.storage.schedules.edge_occurrences import StartedStep
from motorpool.storage.schedules.runs import Outcome

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


async def settled(outcome):
    """What comes back, at once or later."""
    return await outcome if isawaitable(outcome) else outcome


class Device(Actor):
    """Answers with `came`; raises it where it is an exception, and waits for it where it is an event."""

    def __init__(self, came, told):
        self.came, self.told = came, told

    async def handle(self, message):
        self.told.append(message)
        if isinstance(self.came, trio.Event):
            await self.came.wait()
        if isinstance(self.came, Exception):
            raise self.came
        return self.came


@pytest.fixture
def sent(tree):
    """`await sent(came, …)`: the outcome of a step, and what the device was told."""

    async def send(came, **fields):
        told = []
        spec = DynamicSpec(
            kind=DEVICE, name="devices", factory=lambda _: Device(came, told), shutdown_seconds=0.1
        )
        async with tree(spec) as system:
            outcome = await settled(
                send_step(system, StartedStep(7, 1, 42, "start", NOW, followed=False, **fields))
            )
        return outcome, told

    return send


@pytest.mark.parametrize(
    ("came", "outcome"),
    [
        (CommandSent(), Outcome(7, "sent")),
        (CommandQueued(QueuedCommand(id=3, device_id=42)), Outcome(7, "queued")),
        (
            CommandRefused("the device is offline", offline=True),
            Outcome(7, "skipped", "offline"),
        ),
        (CommandRefused("data is required"), Outcome(7, "skipped", "not_sent", "data is required")),
        (
            CommandRefused("no answer in time", uncertain=True),
            Outcome(7, "failed", "no answer in time"),
        ),
        (
            Failure(StorageUnavailable("the database is away")),
            Outcome(7, "failed", "StorageUnavailable: the database is away"),
        ),
        (
            Failure(StatementRejected("1000 commands wait for the device already")),
            Outcome(7, "failed", "StatementRejected: 1000 commands wait for the device already"),
        ),
    ],
    ids=["sent", "queued", "offline", "declined", "uncertain", "database away", "queue full"],
)
async def test_each_answer_of_the_device_is_told_in_the_words_of_run_records(sent, came, outcome):
    assert (await sent(came))[0] == outcome


async def test_a_device_that_breaks_on_it_costs_the_step_and_is_told_of_it_once(sent):
    outcome, told = await sent(ZeroDivisionError("a bad day"))
    assert (outcome.run_id, outcome.status, outcome.detail) == (7, "failed", None)
    assert outcome.reason.startswith("ActorFailed: ")
    assert len(told) == 1


async def test_a_device_that_never_answers_is_waited_for_ten_seconds(tree, time):
    told, came = [], []
    spec = DynamicSpec(
        kind=DEVICE, name="devices", factory=lambda _: Device(trio.Event(), told), shutdown_seconds=0.1
    )
    async with tree(spec) as system, trio.open_nursery() as nursery:

        async def send():
            came.append(await settled(send_step(system, StartedStep(7, 1, 42, "start", NOW, followed=False))))

        nursery.start_soon(send)
        await time.passes(SEND_SECONDS - 0.1)
        assert came == []
        await time.passes(0.2)
    (outcome,) = came
    assert outcome.status == "failed"
    assert outcome.reason.startswith("AskTimedOut: ")
    assert len(told) == 1


async def test_the_device_is_told_what_the_saved_command_says_and_how_long_it_may_wait(sent):
    _, (told,) = await sent(
        CommandSent(),
        type="engineStop",
        attributes={"data": "x"},
        text_channel=True,
        queue_minutes=15,
        owner_id=9,
    )
    assert told == SendCommand(
        "engineStop",
        {"data": "x"},
        text_channel=True,
        user_id=9,
        run_id=7,
        queue_minutes=15,
        no_queue=False,
    )
    _, (told,) = await sent(CommandSent(), type="engineStop")
    assert (told.no_queue, told.queue_minutes) == (True, 0)
