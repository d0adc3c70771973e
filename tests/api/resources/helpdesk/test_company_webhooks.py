"""The webhook of a company over HTTP: its secrets, its log, another attempt and the test."""

import json

import trio

from motorpool.actors.deliveries.webhook import sign
from motorpool.api.settings import WebhookSettings
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import TicketMessage

LOOPBACK = WebhookSettings(allow=("127.0.0.0/8",))


async def company_of(client, url, **webhook):
    made = await client.post(
        "/companies", json={"name": "North", "attributes": {"ticketWebhook": {"url": url, **webhook}}}
    )
    assert made.status == 200, made.text
    return made.json()


async def put(served, company_id, *numbers):
    rows = [TicketMessage(company_id, 7, number, "ticket.updated", f"[{number}]") for number in numbers]
    async with served.context.database.transaction() as transaction:
        await outbox.enqueue_for_companies(transaction, rows, now=served.clock.now())


async def state_of(client, company_id, delivery_id, state):
    """Wait until a message is in this state."""
    while True:
        listed = (await client.get(f"/companies/{company_id}/webhook/deliveries")).json()
        found = next(each for each in listed if each["id"] == delivery_id)
        if found["state"] == state:
            return found
        await trio.sleep(0.01)


async def test_what_was_delivered_is_listed_and_sent_again(starting, web_server):
    server = web_server(lambda _: (200, b"thanks"))
    async with starting(webhook=LOOPBACK) as served:
        chief = await served.user("chief")
        company = await company_of(chief, server.url)
        secret = company["attributes"]["ticketWebhook"]["secret"]
        assert secret.startswith("whsec_")
        path = f"/companies/{company['id']}/webhook/deliveries"
        await put(served, company["id"], 1, 2)
        listed = (await chief.get(path)).json()
        assert [(each["sequence"], each["state"]) for each in listed] == [(2, "waiting"), (1, "waiting")]
        assert listed[0]["nextAttempt"] is not None
        # Another attempt wakes the sender, which finds the other one as well.
        again = await chief.post(f"{path}/{listed[0]['id']}/retry")
        assert (again.status, again.json()["state"]) == (200, "waiting")
        for each in listed:
            found = await state_of(chief, company["id"], each["id"], "delivered")
            assert found["messageId"] == f"msg_{company['id']}_{each['id']}"
            (attempt,) = found["attempts"]
            assert (attempt["status"], attempt["error"], attempt["answer"]) == (200, None, "thanks")
            assert attempt["address"] == "127.0.0.1"
        assert {asked.body for asked in server.asked} == {b"[1]", b"[2]"}
        # One that was delivered can be sent again, with the same id.
        assert (await chief.post(f"{path}/{listed[1]['id']}/retry")).status == 200
        await state_of(chief, company["id"], listed[1]["id"], "delivered")
        ids = [asked.headers["webhook-id"] for asked in server.asked]
        assert (len(ids), len({*ids})) == (3, 2)
        for asked in server.asked:
            name, timestamp = asked.headers["webhook-id"], int(asked.headers["webhook-timestamp"])
            assert asked.headers["webhook-signature"] == sign((secret,), name, timestamp, asked.body)
            assert asked.headers["User-Agent"].startswith("motorpool/")
        for query, count in (
            ("state=delivered", 2),
            ("state=waiting&state=failed", 0),
            ("ticketId=7", 2),
            ("ticketId=8", 0),
            ("limit=1", 1),
            ("limit=1&offset=2", 0),
            ("to=2020-01-01T00:00:00Z", 0),
            ("from=2020-01-01T00:00:00Z", 2),
        ):
            assert len((await chief.get(f"{path}?{query}")).json()) == count, query
        for query in ("state=lost", "limit=-1", "limit=1001", "ticketId=x"):
            assert (await chief.get(f"{path}?{query}")).status == 400, query
        assert (await chief.post(f"{path}/999/retry")).status == 404


async def test_the_test_shows_the_answer_to_administrators_only(starting, web_server):
    server = web_server(lambda _: (503, b"diagnostics"))
    async with starting(webhook=LOOPBACK) as served:
        chief = await served.user("chief")
        company = await company_of(chief, server.url, disabled=True)
        path = f"/companies/{company['id']}/webhook/test"
        told = (await chief.post(path)).json()
        assert told == {
            "delivered": False,
            "error": "status",
            "milliseconds": None,
            "address": None,
            "status": None,
            "answer": None,
        }
        told = (await served.admin.post(path)).json()
        assert (told["status"], told["answer"], told["address"]) == (503, "diagnostics", "127.0.0.1")
        body = json.loads(server.asked[0].body)
        assert (body["type"], body["data"]) == ("webhook.test", {"companyId": company["id"]})
        # Six a minute, whoever asks.
        for _ in range(4):
            assert (await chief.post(path)).status == 200
        refused = await served.admin.post(path)
        assert refused.status == 429
        assert len(server.asked) == 6


async def test_strangers_and_companies_without_a_webhook(desk):
    path = f"/companies/{desk.id}/webhook"
    none = await desk.chief.post(f"{path}/test")
    assert (none.status, none.text) == (400, "the company has no webhook")
    assert (await desk.chief.get(f"{path}/deliveries")).json() == []
    linked = await desk.ann.get(f"{path}/deliveries")
    assert (linked.status, linked.text) == (400, "only managers of the company may do this")
    stranger = await desk.stranger.get(f"{path}/deliveries")
    unknown = await desk.stranger.get("/companies/999/webhook/deliveries")
    assert (stranger.status, stranger.text) == (unknown.status, unknown.text)
    assert stranger.status == 400


async def test_messages_of_another_company_are_not_sent_again(starting, web_server):
    server = web_server()
    async with starting(webhook=LOOPBACK) as served:
        chief, other = await served.user("chief"), await served.user("other")
        mine, theirs = await company_of(chief, server.url), await company_of(other, server.url)
        await put(served, theirs["id"], 1)
        (waiting,) = (await other.get(f"/companies/{theirs['id']}/webhook/deliveries")).json()
        path = f"/companies/{mine['id']}/webhook/deliveries"
        assert (await chief.post(f"{path}/{waiting['id']}/retry")).status == 404
        assert (await chief.get(path)).json() == []
