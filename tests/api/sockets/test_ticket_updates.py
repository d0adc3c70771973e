"""Changed tickets on the WebSocket, for those who may see them at that moment."""

import pytest
import trio
from tests.api.sockets.test_websocket import connect, read_all, receive, receive_until, shake_hands

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import LinkChanged, TicketChanged
from motorpool.api.auth.caller import Caller
from motorpool.api.sockets import ticket_updates
from motorpool.api.sockets.ticket_updates import TicketUpdates
from motorpool.storage.accounts import users


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


async def _unlink(served, link):
    return await served.admin.delete("/permissions", json=link)


async def _unlink_in_bulk(served, link):
    return await served.admin.delete("/permissions/bulk", json=[link])


@pytest.mark.parametrize("unlink", [_unlink, _unlink_in_bulk])
async def test_a_link_to_the_company_counts_as_long_as_it_lasts(served, unlink):
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
        assert (await unlink(served, link)).status == 204
        await open_ticket(ann, company_id)
        last = await open_ticket(ben, own)
        message = await receive(socket)
        assert [each["id"] for each in message["tickets"]] == [last["id"]]


async def test_what_waits_for_a_slow_client_is_not_sent_when_its_link_has_ended(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    company_id = await company_of(ann)
    await served.admin.post("/permissions", json={"userId": ben.id, "companyId": company_id})
    caller = Caller(
        user=await users.TABLE.fetch(served.context.database, ben.id), server=served.context.server
    )
    pending = trio.Event()
    async with trio.open_nursery() as nursery:
        updates = TicketUpdates(served.context, caller, pending.set)
        await nursery.start(updates.follow)
        await open_ticket(ann, company_id)
        await pending.wait()
        await served.admin.delete("/permissions", json={"userId": ben.id, "companyId": company_id})
        updates.apply((LinkChanged("user", ben.id, "company", company_id),))
        assert await updates.take() == []
        nursery.cancel_scope.cancel()


async def test_the_end_of_a_membership_takes_what_it_gave_and_leaves_the_link(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    company_id = await company_of(ann)
    team = (await ann.post("/teams", json={"companyId": company_id, "name": "Workshop"})).json()["id"]
    for user in (ann, ben):
        assert (await served.admin.put(f"/teams/{team}/members/{user.id}")).status == 204
    ticket = await open_ticket(ann, company_id)
    note = {"text": "Between us", "internal": True}
    assert (await ann.post(f"/tickets/{ticket['id']}/comments", json=note)).status == 200

    async def seen():
        entries = (await ben.get(f"/tickets/{ticket['id']}/events")).json()
        figures = await ben.get(f"/tickets/stats?companyId={company_id}")
        return [entry["type"] for entry in entries], figures.status

    async with connect(served, served.cookie(ben)) as socket:
        await receive(socket)
        assert await seen() == (["created", "comment"], 200)
        assert (await ann.delete(f"/teams/{team}/members/{ben.id}")).status == 204
        assert await seen() == (["created"], 400)
        assert (await ben.post(f"/tickets/{ticket['id']}/comments", json=note)).status == 400
        # Whoever is linked to the company sees its tickets.
        last = await open_ticket(ann, company_id)
        assert await changed(socket, last["id"]) == shown(last)


async def test_who_came_by_a_share_link_hears_of_no_tickets(served):
    ann = await served.user("ann", deviceLimit=-1)
    company_id = await company_of(ann)
    device = await served.device(ann, "1")
    form = {"deviceId": str(device), "expiration": "2026-05-03T00:00:00Z"}
    token = (await ann.post("/share/device", form=form)).text
    guest = served.client({"Authorization": f"Bearer {token}"})
    session = served.client()
    assert (await session.get(f"/session?token={token}")).status == 200
    async with (
        connect(served, served.cookie(session)) as socket,
        connect(served, served.cookie(ann)) as own,
    ):
        await receive(socket), await receive(own)
        ticket = await open_ticket(ann, company_id)
        assert await changed(own, ticket["id"]) == shown(ticket)
        await served.report(served.position(device))
        message = {}
        while "positions" not in message:
            message = await receive(socket)
            assert "tickets" not in message
    assert (await guest.get(f"/tickets/{ticket['id']}")).status == 400
    assert (await guest.get("/tickets")).json() == []


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
