"""Changed tickets on the WebSocket, for those who may see them at that moment."""

import pytest
from tests.api.test_websocket import connect, read_all, receive, receive_until, shake_hands

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import TicketChanged
from motorpool.api import ticket_updates


@pytest.fixture
async def served(starting):
    async with starting(listen=True) as running:
        yield running


async def company_of(client) -> int:
    answer = await client.post("/companies", json={"name": "North"})
    assert answer.status == 200, answer.text
    company_id = answer.json()["id"]
    answer = await client.post("/tickets/defaults", json={"companyId": company_id})
    assert answer.status == 200, answer.text
    return company_id


async def open_ticket(client, company_id, subject="No picture"):
    answer = await client.post("/tickets", json={"companyId": company_id, "subject": subject})
    assert answer.status == 200, answer.text
    return answer.json()


def shown(ticket):
    return {"id": ticket["id"], "companyId": ticket["companyId"], "version": ticket["version"]}


async def changed(socket, ticket_id):
    return await receive_until(socket, "tickets", lambda each: each["id"] == ticket_id)


async def test_changes_of_tickets_reach_the_users_of_their_company_and_nobody_else(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    own, foreign = await company_of(ann), await company_of(ben)
    async with (
        connect(served, served.cookie(ann)) as socket,
        connect(served, served.cookie(served.admin)) as all_of_them,
    ):
        await receive(socket), await receive(all_of_them)
        others = await open_ticket(ben, foreign)
        ticket = await open_ticket(ann, own)
        assert await changed(all_of_them, others["id"]) == shown(others)
        # Its message would hold the other ticket as well, if that were sent to Ann: it came before.
        assert await changed(socket, ticket["id"]) == shown(ticket)
        answer = await ann.post(f"/tickets/{ticket['id']}/comments", json={"text": "Seen"})
        assert answer.status == 200
        now = (await ann.get(f"/tickets/{ticket['id']}")).json()
        assert now["version"] > ticket["version"]
        assert await changed(socket, ticket["id"]) == shown(now)
        assert (await ann.delete(f"/tickets/{ticket['id']}")).status == 204
        assert (await changed(socket, ticket["id"]))["companyId"] == own


async def test_a_link_to_the_company_counts_as_long_as_it_lasts(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    company_id, own = await company_of(ann), await company_of(ben)
    link = {"userId": ben.id, "companyId": company_id}
    async with connect(served, served.cookie(ben)) as socket:
        await receive(socket)
        await open_ticket(ann, company_id)
        first = await open_ticket(ben, own)
        # The one before would be in the same message.
        assert (await receive(socket))["tickets"] == [shown(first)]
        assert (await served.admin.post("/permissions", json=link)).status == 204
        seen = await open_ticket(ann, company_id)
        message = await receive(socket)
        assert [each["id"] for each in message["tickets"]] == [seen["id"]]
        assert (await served.admin.delete("/permissions", json=link)).status == 204
        await open_ticket(ann, company_id)
        last = await open_ticket(ben, own)
        message = await receive(socket)
        assert [each["id"] for each in message["tickets"]] == [last["id"]]


async def test_a_client_so_slow_that_tickets_would_be_lost_is_asked_to_connect_again(served, monkeypatch):
    monkeypatch.setattr(ticket_updates, "MAX_PENDING_TICKETS", 2)
    async with shake_hands(served, served.cookie(served.admin)) as (stream, status):
        assert status == 101
        await publish_changes(
            served.context.system, *(TicketChanged(each, "updated", 1, 2) for each in (1, 2, 3))
        )
        assert (await read_all(stream)).endswith(b"\x88\x02\x03\xf5")


async def test_of_two_facts_that_arrive_in_the_wrong_order_the_newer_counts(served):
    async with connect(served, served.cookie(served.admin)) as socket:
        await receive(socket)
        await publish_changes(served.context.system, TicketChanged(7, "updated", 1, 9))
        await publish_changes(served.context.system, TicketChanged(7, "updated", 1, 8))
        assert (await receive(socket))["tickets"] == [{"id": 7, "companyId": 1, "version": 9}]
