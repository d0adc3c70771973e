"""What becomes of commands that were sent for tickets is entered in their history, once and in order."""

import pytest
from tests.actors.helpdesk.clock.conftest import batches

from motorpool.actors.helpdesk import ticket_commands as actor
from motorpool.actors.helpdesk.ticket_commands import TicketCommands
from motorpool.actors.messages.tickets import TICKET_COMMANDS, TicketCommandAnswered, TicketCommandsChanged
from motorpool.runtime import ChildSpec
from motorpool.storage.devices import commands
from motorpool.storage.helpdesk import ticket_commands, tickets
from motorpool.storage.records import QueuedCommand

SAID = {"commandType": "engineStop", "deviceId": 7}


def ticket_commands_spec(database, batches):
    return ChildSpec(kind=TICKET_COMMANDS, factory=lambda: TicketCommands(database, batches))


@pytest.fixture
async def ticket(world, clock):
    priority = await world.priority(first=0, resolution=0)
    return await world.ticket(clock.now(), priority)


@pytest.fixture
def send(database, world, ticket, clock):
    """`await send()`: a command that is about to be handed to its device."""
    return lambda: ticket_commands.add(database, world.company.id, ticket, SAID, now=clock.now())


async def entries(database, *names):
    rows = await database.fetch(
        "select actor, attributes from ticket_events where type = 'evidence' order by id"
    )
    assert all(row["attributes"].items() >= SAID.items() for row in rows)
    return [(row["actor"], row["attributes"]["status"], *map(row["attributes"].get, names)) for row in rows]


async def count(database, table="ticket_commands"):
    return await database.fetch_value(f"select count(*) from {table}")


async def queue(database, make_device, row_id, number="1"):
    device = await make_device(number)
    command = QueuedCommand(device_id=device.id, type="engineStop")
    return await commands.enqueue(database, command, ticket_command_id=row_id)


async def test_a_queued_command_is_followed_to_its_answer(database, tree, time, clock, make_device, send):
    row_id = await send()
    queued = await queue(database, make_device, row_id)
    async with tree(ticket_commands_spec(database, batches())) as system:
        await time.passes(3 * 86_400, step=86_400)
        assert await entries(database) == []
        claimed = await commands.claim(database, queued.id, clock.now())
        assert claimed.ticket_command_id == row_id
        await ticket_commands.note(database, row_id, {"status": "delivered"}, becomes="sent", now=clock.now())
        await system.ref(TICKET_COMMANDS).tell(TicketCommandAnswered(row_id, ok=False, text="not supported"))
        await time.settle()
        assert await entries(database, "ok", "result") == [
            ("device", "delivered", None, None),
            ("device", "answered", False, "not supported"),
        ]
        await time.passes(2 * 3600, step=600)
    assert (await count(database), await count(database, "ticket_command_news")) == (0, 0)


async def test_what_a_device_refuses_is_over(database, tree, time, clock, make_device, send):
    queued = await queue(database, make_device, await send())
    claimed = await commands.claim(database, queued.id, clock.now())
    said = {"status": "refused", "reason": "not supported"}
    await ticket_commands.note(database, claimed.ticket_command_id, said, becomes="over", now=clock.now())
    assert await count(database) == 0
    async with tree(ticket_commands_spec(database, batches())):
        await time.settle()
    assert await entries(database, "reason") == [("device", "refused", "not supported")]


async def test_an_answer_waits_for_the_entry_that_it_was_sent(database, tree, time, clock, send):
    row_id = await send()
    async with tree(ticket_commands_spec(database, batches())) as system:
        await system.ref(TICKET_COMMANDS).tell(TicketCommandAnswered(row_id, ok=True, text="ok"))
        await time.passes(20, step=10)
        assert await entries(database) == []
        await ticket_commands.settle(database, row_id, is_over=False, now=clock.now())
        await system.ref(TICKET_COMMANDS).tell(TicketCommandsChanged())
        await time.settle()
        assert await entries(database, "result") == [("device", "answered", "ok")]


async def test_what_became_of_a_command_is_unknown_if_its_server_ended(
    database, tree, time, clock, make_device, send
):
    queued = await queue(database, make_device, await send())
    await commands.claim(database, queued.id, clock.now())
    await send()
    answered = await send()
    await ticket_commands.note(database, answered, {"status": "answered"}, becomes="same", now=clock.now())
    async with tree(ticket_commands_spec(database, batches())):
        await time.passes(50, step=10)
        assert await entries(database) == []
        await time.passes(60, step=10)
    found = await entries(database, "reason")
    assert sorted(found, key=repr) == [
        ("device", "answered", None),
        *[("device", "unknown", "the server ended while it was sending it")] * 2,
    ]


async def test_a_command_that_leaves_the_queue_is_entered_as_removed(
    database, tree, time, clock, make_device, send
):
    by_user = await queue(database, make_device, await send())
    with_device = await queue(database, make_device, await send(), "2")
    async with database.transaction() as transaction:
        assert await commands.cancel(transaction, by_user.id, clock.now()) == ()
        said = {"status": "removed", "userName": "Ann"}
        await ticket_commands.note_removed(transaction, by_user.id, 5, said)
    await database.execute("delete from devices where id = $1", with_device.device_id)
    async with tree(ticket_commands_spec(database, batches())):
        await time.passes(60, step=10)
    assert sorted(await entries(database, "userName", "reason"), reverse=True) == [
        ("user", "removed", "Ann", None),
        ("device", "removed", None, "it left the queue of the device without being sent"),
    ]
    user = await database.fetch_value("select user_id from ticket_events where actor = 'user'")
    assert user == 5


async def test_two_servers_enter_each_once(database, tree, time, clock, send):
    rows = [await send() for _ in range(5)]
    for row_id in rows:
        for status in ("delivered", "answered"):
            becomes = "sent" if status == "delivered" else "same"
            await ticket_commands.note(database, row_id, {"status": status}, becomes=becomes, now=clock.now())
    specs = [ticket_commands_spec(database, batches()) for _ in range(2)]
    async with tree(specs[0]), tree(specs[1]):
        await time.passes(10, step=1)
    assert [entry[1] for entry in await entries(database)] == ["delivered", "answered"] * 5


async def test_a_ticket_that_fails_does_not_hold_up_others(
    database, tree, time, clock, world, send, monkeypatch, caplog
):
    good = await world.ticket(clock.now(), await world.priority("P", first=0, resolution=0))
    rows = [await send(), await ticket_commands.add(database, world.company.id, good, SAID, now=clock.now())]
    for row_id in rows:
        await ticket_commands.note(database, row_id, {"status": "delivered"}, becomes="sent", now=clock.now())
    enter = actor._enter

    def failing(found, facts, now):
        if facts.ticket.id != good:
            raise ValueError("of no use")
        return enter(found, facts, now)

    monkeypatch.setattr(actor, "_enter", failing)
    async with tree(ticket_commands_spec(database, batches())):
        await time.passes(5, step=1)
    assert [entry[1] for entry in await entries(database)] == ["delivered"]
    assert "is not entered" in caplog.text


async def test_commands_go_with_their_ticket(database, world, ticket, clock, make_device, send):
    row_id = await send()
    queued = await queue(database, make_device, row_id)
    await ticket_commands.note(database, row_id, {"status": "answered"}, becomes="same", now=clock.now())
    async with database.transaction() as transaction:
        await tickets.delete(transaction, world.company.id, ticket, now=clock.now())
    assert (await count(database), await count(database, "ticket_command_news")) == (0, 0)
    claimed = await commands.claim(database, queued.id, clock.now())
    assert claimed.ticket_command_id == 0
