"""Who is at a ticket: who is told of whom, and for how long."""

from datetime import datetime

import pytest
import trio

from motorpool.runtime.clock import SystemClock
from motorpool.storage.helpdesk import ticket_presences


@pytest.fixture
async def world(desk):
    """A ticket, its manager, an agent of its only team, and Ann, who is linked and no agent."""
    made = await desk.chief.post("/tickets/defaults", json={"companyId": desk.id})
    desk.status = made.json()["statuses"][0]["id"]
    team = await desk.make("teams", name="Workshop")
    desk.bea = await desk.served.user("bea")
    joined = await desk.link(desk.served.admin, userId=desk.bea.id, teamId=team["id"])
    assert joined.status == 204, joined.text
    desk.number = await desk.ticket(desk.status)
    return desk


async def be(client, number, state="VIEWING"):
    answer = await client.put(f"/tickets/{number}/presence", json={"state": state})
    assert answer.status == 200, answer.text
    return answer.json()


def who(found):
    return [(each["name"], each["state"]) for each in found]


async def age(database, seconds):
    """Let time pass for the leases that there are."""
    await database.execute(
        "update ticket_presences set since = since - make_interval(secs => $1),"
        " expires_at = expires_at - make_interval(secs => $1)",
        float(seconds),
    )


async def test_agents_at_a_ticket_are_told_of_each_other_until_they_leave(world):
    assert await be(world.chief, world.number) == []
    [chief] = await be(world.bea, world.number, "WRITING")
    assert chief | {"since": None} == {
        "userId": world.chief.id,
        "name": "chief",
        "state": "VIEWING",
        "since": None,
    }
    assert abs((SystemClock().now() - datetime.fromisoformat(chief["since"])).total_seconds()) < 60
    assert who(await be(world.chief, world.number)) == [("bea", "WRITING")]
    assert who(await be(world.served.admin, world.number, "LEFT")) == [
        ("chief", "VIEWING"),
        ("bea", "WRITING"),
    ]
    assert who(await be(world.bea, world.number, "LEFT")) == [("chief", "VIEWING")]
    assert await be(world.chief, world.number) == []
    # Another ticket has its own.
    other = await world.ticket(world.status)
    assert await be(world.bea, other) == []


async def test_who_does_not_say_it_again_has_left(world, database):
    await be(world.bea, world.number)
    await age(database, 20)
    [first] = await be(world.chief, world.number)
    await be(world.bea, world.number)
    await age(database, 20)
    [renewed] = await be(world.chief, world.number)
    before, after = (datetime.fromisoformat(found["since"]) for found in (first, renewed))
    assert (before - after).total_seconds() == 20
    await age(database, 11)
    assert await be(world.chief, world.number) == []
    # Who comes back has not been there all the time, and another state begins when it does.
    await be(world.bea, world.number)
    [again] = await be(world.chief, world.number)
    assert again["since"] > first["since"]
    await age(database, 5)
    await be(world.bea, world.number, "WRITING")
    [writing] = await be(world.chief, world.number)
    assert writing["since"] > again["since"]
    # Upkeep deletes what has ended and nothing else.
    await age(database, 31)
    await be(world.chief, world.number)
    assert await ticket_presences.delete_expired(database) == 1
    assert await database.fetch_value("select user_id from ticket_presences") == world.chief.id


async def test_who_handles_no_tickets_is_told_nothing_and_is_not_told_of(world):
    reader = await world.served.user("reader", readonly=True)
    await world.link(world.served.admin, userId=reader.id, companyId=world.id)
    await be(world.bea, world.number)
    assert await be(world.ann, world.number, "WRITING") == []
    assert await be(reader, world.number) == []
    assert await be(reader, world.number, "LEFT") == []
    assert who(await be(world.chief, world.number)) == [("bea", "VIEWING")]
    refused = await world.stranger.put(f"/tickets/{world.number}/presence", json={"state": "VIEWING"})
    assert (refused.status, refused.text) == (400, "no access to the company, or no such")
    assert (await world.chief.put("/tickets/999/presence", json={"state": "VIEWING"})).status == 404
    for body in ({}, {"state": "ASLEEP"}, {"state": None}):
        assert (await world.chief.put(f"/tickets/{world.number}/presence", json=body)).status == 400


async def test_requests_at_once_leave_one_lease_of_each_user_and_ticket(world, database):
    numbers = [world.number, await world.ticket(world.status)]
    clients = [world.chief, world.bea, world.served.admin]
    ids = [world.chief.id, world.bea.id, (await world.served.admin.get("/session")).json()["id"]]
    async with trio.open_nursery() as nursery:
        for turn in range(10):
            for client in clients:
                for number in numbers:
                    nursery.start_soon(be, client, number, ("VIEWING", "WRITING", "LEFT")[turn % 3])
    for client in clients:
        for number in numbers:
            await be(client, number)
    rows = await database.fetch("select ticket_id, user_id, state from ticket_presences")
    assert {tuple(row.values()) for row in rows} == {
        (number, user_id, "VIEWING") for user_id in ids for number in numbers
    }
    assert len(rows) == 6
    assert sorted(who(await be(world.chief, world.number))) == [("Admin", "VIEWING"), ("bea", "VIEWING")]


async def test_leases_of_a_user_are_bounded(world, database):
    await database.execute(
        "insert into tickets (company_id, number, status_id, status_kind, subject, created_at, updated_at,"
        " status_changed_at) select company_id, number + n, status_id, status_kind, subject, created_at,"
        " updated_at, status_changed_at from tickets, generate_series(1, $1) as n",
        ticket_presences.TICKETS_OF_A_USER,
    )
    ids = [row[0] for row in await database.fetch("select id from tickets order by id")]
    for number in ids[1:]:
        await ticket_presences.enter(database, number, world.bea.id, "VIEWING")
    await be(world.bea, ids[0])
    assert await be(world.chief, ids[0]) == []
    # Those that are there are renewed, and others are at the ticket.
    assert who(await be(world.bea, ids[-1])) == []
    assert who(await be(world.bea, ids[0])) == [("chief", "VIEWING")]
    await be(world.bea, ids[-1], "LEFT")
    await be(world.bea, ids[0])
    assert who(await be(world.chief, ids[0])) == [("bea", "VIEWING")]


async def test_a_deleted_ticket_takes_its_leases_along(world, database):
    await be(world.bea, world.number)
    deleted = await world.chief.delete(f"/tickets/{world.number}")
    assert deleted.status == 204, deleted.text
    assert await database.fetch_value("select count(*) from ticket_presences") == 0
