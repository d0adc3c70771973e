"""Notificators, their tests, and announcements, to real servers."""

import json
from dataclasses import replace

import pytest
import trio
import trio.testing
from tests.api.cases import on_one_server

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.ntfy import NtfySettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.messages.topics import WEB_EVENTS
from motorpool.api.login_settings import UserSettings

HELLO = {"subject": "Maintenance", "body": "The server rests tonight.", "digest": "Rest tonight"}


def mail(server, **fields):
    known = {"host": "127.0.0.1", "port": server.port, "security": "none", "address": "fleet@example.net"}
    return MailSettings(**{**known, **fields})


def sms(server):
    return SmsSettings(url=server.url, authorization="secret-gateway-key")


async def names(client, query=""):
    answer = await client.get("/notifications/notificators" + query)
    assert answer.status == 200
    return [each["type"] for each in answer.json()]


def sent(server):
    return sorted((json.loads(asked.body)["to"], json.loads(asked.body)["text"]) for asked in server.asked)


async def test_without_mail_server_and_gateway_there_are_web_and_commands(served):
    assert await names(served.admin) == ["web", "command"]
    assert await names(served.admin, "?announcement=true") == ["web"]
    assert (await served.client().get("/notifications/notificators")).status == 401


async def test_what_is_configured_is_listed_and_told_by_the_server(starting, mail_server, web_server):
    async with starting(mail=mail(await mail_server()), sms=sms(web_server())) as served:
        assert await names(served.admin) == ["web", "mail", "sms", "command"]
        assert await names(served.admin, "?announcement=true") == ["web", "mail", "sms"]
        assert await names(served.admin, "?announcement=false") == ["web", "mail", "sms", "command"]
        server = (await served.client().get("/server")).json()
        assert (server["emailEnabled"], server["textEnabled"], server["geocoderEnabled"]) == (
            True,
            True,
            False,
        )


async def test_ntfy_is_listed_where_it_is_configured_and_reaches_the_topic_of_a_user(starting, web_server):
    server = web_server()
    async with starting(ntfy=NtfySettings(url=server.url, token="tk_1")) as served:
        assert await names(served.admin) == ["web", "ntfy", "command"]
        assert await names(served.admin, "?announcement=true") == ["web", "ntfy"]
        answer = await served.admin.post("/notifications/test/ntfy")
        assert (answer.status, answer.text) == (400, "ntfy: the user has no attribute ntfyTopic")
        ann = await served.user("ann", attributes={"ntfyTopic": "fleet-ann"})
        assert (await ann.post("/notifications/test/ntfy")).status == 204
        path = f"/notifications/send/ntfy?userId={ann.id}"
        assert (await served.admin.post(path, json={**HELLO, "priority": True})).status == 204
        with trio.fail_after(120):
            while len(server.asked) < 2:
                await trio.testing.wait_all_tasks_blocked(0.01)
    sent = [json.loads(asked.body) for asked in server.asked]
    assert [(each["topic"], each["title"], each["priority"]) for each in sent] == [
        ("fleet-ann", "Test message", 3),
        ("fleet-ann", "Maintenance", 4),
    ]
    assert sent[1]["message"] == "Rest tonight"


async def test_a_mail_account_of_ones_own_is_listed_for_oneself(served):
    ann = await served.user("ann", attributes={"mail.smtp.host": "smtp.example.com"})
    assert await names(ann) == ["web", "mail", "command"]
    assert await names(ann, "?announcement=true") == ["web"]
    assert await names(served.admin) == ["web", "command"]


async def test_a_test_goes_to_the_caller_by_every_way(starting, mail_server, web_server):
    mails, gateway = await mail_server(), web_server()
    async with starting(mail=mail(mails), sms=sms(gateway)) as served:
        ann = await served.user("ann", phone="+49 123")
        async with served.context.system.topic(WEB_EVENTS).subscribe() as events:
            assert (await ann.post("/notifications/test")).status == 204
            (event,) = await events.receive_batch()
    assert event.user_ids == {ann.id}
    assert event.event.type == "test"
    assert event.event.device_id == 0
    assert "test message" in event.event.attributes["message"]
    envelope, letter = await mails.next()
    assert envelope.rcpt_tos == ["ann@example.org"]
    assert letter["Subject"] == "Test message"
    assert [number for number, _ in sent(gateway)] == ["+49123"]


async def test_who_has_no_telephone_is_tested_without(starting, mail_server, web_server):
    mails, gateway = await mail_server(), web_server()
    async with starting(mail=mail(mails), sms=sms(gateway)) as served:
        ann = await served.user("ann")
        assert (await ann.post("/notifications/test")).status == 204
        assert (mails.left, len(gateway.asked)) == (1, 0)
        answer = await ann.post("/notifications/test/sms")
        assert (answer.status, answer.text) == (400, "sms: there is no such telephone number")


NOTHING = "neither a mail server nor an SMS gateway is configured"
NO_NUMBER = "the user has no telephone number"


@pytest.mark.parametrize("has_gateway", [False, True])
async def test_a_test_that_can_go_neither_by_mail_nor_by_sms_is_400(starting, web_server, has_gateway):
    gateway = web_server()
    async with starting(**({"sms": sms(gateway)} if has_gateway else {})) as served:
        answer = await served.admin.post("/notifications/test")
        assert (answer.status, answer.text) == (400, NO_NUMBER if has_gateway else NOTHING)
        assert (await served.admin.post("/notifications/test/web")).status == 204
    assert gateway.asked == []


async def test_tests_are_limited_for_each_user(starting, web_server):
    gateway = web_server()
    async with starting(sms=sms(gateway), users=UserSettings(tests_per_hour=2)) as served:
        ann, ben = await served.user("ann", phone="111"), await served.user("ben", phone="222")
        assert (await ann.post("/notifications/test")).status == 204
        assert (await ann.post("/notifications/test/sms")).status == 204
        for path in ("/notifications/test", "/notifications/test/sms", "/notifications/test/web"):
            answer = await ann.post(path)
            assert answer.status == 429
            assert 0 < int(answer.headers["Retry-After"]) <= 3600
        assert (await ben.post("/notifications/test/sms")).status == 204
    assert [number for number, _ in sent(gateway)] == ["111", "111", "222"]


async def test_text_messages_that_a_user_causes_are_limited_together(starting, web_server):
    gateway = web_server()
    limited = replace(sms(gateway), per_user=2)
    async with starting(sms=limited) as served:
        boss = await served.user("boss", userLimit=-1, phone="111")
        for name in ("m1", "m2"):
            body = {"name": name, "email": f"{name}@example.org", "password": name, "phone": "222"}
            assert (await boss.post("/users", json=body)).status == 200
        assert (await boss.post("/notifications/test/sms")).status == 204
        answer = await boss.post("/notifications/send/sms", json=HELLO)
        assert (answer.status, answer.text) == (429, "a user may send 2 text messages an hour")
        # Administrators announce to as many as there are.
        assert (await served.admin.post("/notifications/send/sms", json=HELLO)).status == 204


async def test_one_way_is_tested_alone_and_the_body_does_not_matter(starting, mail_server, web_server):
    mails, gateway = await mail_server(), web_server()
    async with starting(mail=mail(mails), sms=sms(gateway)) as served:
        ann = await served.user("ann", phone="112")
        for body in ({"json": {"type": "alarm", "notificators": "sms"}}, {"data": b"{no json"}, {}):
            assert (await ann.post("/notifications/test/mail", **body)).status == 204
        assert (mails.left, len(gateway.asked)) == (3, 0)
        assert (await ann.post("/notifications/test/sms")).status == 204
        assert (await ann.post("/notifications/test/web")).status == 204
        assert (mails.left, len(gateway.asked)) == (3, 1)


@on_one_server("name", ["mail", "sms", "command", "telegram", "MAIL", "a" * 500])
async def test_a_way_that_there_is_not_is_400(served, name):
    for path in (f"/notifications/test/{name}", f"/notifications/send/{name}"):
        answer = await served.admin.post(path, json={"body": "Hello"})
        assert answer.status == 400
        assert answer.text.startswith("notificator: ")
        assert len(answer.text) <= 200


async def test_what_fails_is_400_with_the_reason_and_without_any_secret(
    starting, mail_server, web_server, caplog
):
    mails = await mail_server(login=("fleet", "right"))
    gateway = web_server(lambda _: (401, b"secret-gateway-key is no key"))
    account = mail(mails, username="fleet", password="secret-wrong")
    async with starting(mail=account, sms=sms(gateway)) as served:
        ann = await served.user("ann", phone="112")
        by_mail = await ann.post("/notifications/test/mail")
        assert (by_mail.status, by_mail.text) == (400, "mail: 127.0.0.1 refuses the login (535)")
        by_sms = await ann.post("/notifications/test/sms")
        assert (by_sms.status, by_sms.text) == (400, "sms: the SMS gateway answers 401")
        assert (await ann.post("/notifications/test")).status == 400
    assert "secret" not in caplog.text


async def test_ones_own_mail_account_may_not_lead_into_the_house(served):
    ann = await served.user("ann", attributes={"mail.smtp.host": "127.0.0.1", "mail.smtp.port": 25})
    answer = await ann.post("/notifications/test/mail")
    assert answer.status == 400
    assert "private network" in answer.text


async def test_an_announcement_goes_to_all_who_can_log_in(starting, mail_server, web_server):
    mails, gateway = await mail_server(), web_server()
    async with starting(mail=mail(mails), sms=sms(gateway)) as served:
        ann, ben = await served.user("ann", phone="111"), await served.user("ben", phone="222")
        await served.user("guest", temporary=True, phone="333")
        expired, off = await served.user("expired", phone="444"), await served.user("off", phone="555")
        for gone, field in ((expired, {"expirationTime": "2026-01-01T00:00:00Z"}), (off, {"disabled": True})):
            row = (await served.admin.get(f"/users/{gone.id}")).json()
            assert (await served.admin.put(f"/users/{gone.id}", json={**row, **field})).status == 200
        async with served.context.system.topic(WEB_EVENTS).subscribe() as events:
            assert (await served.admin.post("/notifications/send/web", json=HELLO)).status == 204
            (event,) = await events.receive_batch()
        assert set(event.user_ids) == {served.admin_id, ann.id, ben.id}
        assert event.event.type == "announcement"
        assert event.event.attributes == {"message": "Rest tonight", "subject": "Maintenance"}
        assert (
            await served.admin.post("/notifications/send/mail", json={**HELLO, "priority": True})
        ).status == 204
        letters = [await mails.next() for _ in range(3)]
        assert sorted(envelope.rcpt_tos[0] for envelope, _ in letters) == [
            "admin@example.org",
            "ann@example.org",
            "ben@example.org",
        ]
        assert letters[0][1]["Subject"] == "Maintenance"
        assert letters[0][1]["Importance"] == "high"
        assert "rests tonight" in letters[0][1].get_content()
        assert (await served.admin.post("/notifications/send/sms", json=HELLO)).status == 204


async def test_text_messages_are_the_digest_and_go_to_those_with_a_telephone(starting, web_server):
    gateway = web_server()
    async with starting(sms=sms(gateway)) as served:
        await served.user("ann", phone="111")
        await served.user("ben")
        assert (await served.admin.post("/notifications/send/sms", json=HELLO)).status == 204
        with trio.fail_after(120):
            while not gateway.asked:
                await trio.testing.wait_all_tasks_blocked(0.01)
    assert sent(gateway) == [("111", "Rest tonight")]


async def test_an_announcement_that_reaches_nobody_is_400(starting, web_server):
    async with starting(sms=sms(web_server())) as served:
        answer = await served.admin.post("/notifications/send/sms", json=HELLO)
        assert (answer.status, answer.text) == (400, "none of the users has a telephone number")
        guest = await served.user("guest", temporary=True)
        answer = await served.admin.post(f"/notifications/send/web?userId={guest.id}", json=HELLO)
        assert (answer.status, answer.text) == (400, "there is no user to notify")


async def test_a_manager_tells_his_own_users_and_nobody_else(served):
    boss = await served.user("boss", userLimit=-1)
    other = await served.user("other")
    mine = (await boss.post("/users", json={"name": "m", "email": "m@example.org", "password": "m"})).json()[
        "id"
    ]
    async with served.context.system.topic(WEB_EVENTS).subscribe() as events:
        assert (await boss.post("/notifications/send/web", json=HELLO)).status == 204
        assert (
            await boss.post(f"/notifications/send/web?userId={mine}&userId={mine}", json=HELLO)
        ).status == 204
        assert (await boss.post(f"/notifications/send/web?userId={boss.id}", json=HELLO)).status == 204
        told = [event.user_ids for _ in range(1) for event in await events.receive_batch()]
    assert told == [{mine}, {mine}, {boss.id}]
    for foreign in (other.id, served.admin_id, 9999, 0, -1):
        answer = await boss.post(f"/notifications/send/web?userId={mine}&userId={foreign}", json=HELLO)
        assert answer.status == 400
        assert answer.text.startswith("userId: ")
    assert (await served.admin.post("/notifications/send/web?userId=9999", json=HELLO)).status == 400


async def test_announcements_are_for_administrators_and_managers(served):
    ann = await served.user("ann")
    answer = await ann.post("/notifications/send/web", json=HELLO)
    assert answer.status == 400
    assert (await served.client().post("/notifications/send/web", json=HELLO)).status == 401


@on_one_server(
    "body",
    [
        {},
        {"body": ""},
        {"body": None},
        {"body": 5},
        {"body": "x" * 100_001},
        {"body": "x", "subject": "x" * 501},
        {"body": "x", "digest": "x" * 10_001},
        {"body": "x", "priority": "yes"},
        [],
    ],
)
async def test_an_announcement_has_a_body_and_bounds(served, body):
    assert (await served.admin.post("/notifications/send/web", json=body)).status == 400


async def test_a_body_too_long_for_a_text_message_wants_a_digest(starting, web_server):
    async with starting(sms=sms(web_server())) as served:
        await served.user("ann", phone="111")
        answer = await served.admin.post("/notifications/send/sms", json={"body": "x" * 1001})
        assert (answer.status, answer.text) == (400, "digest: a text message has at most 1000 characters")
        answer = await served.admin.post("/notifications/send/sms", json={"body": "x" * 1001, "digest": "x"})
        assert answer.status == 204


async def test_a_mail_server_that_is_away_delays_announcements_and_loses_none(
    starting, mail_server, database
):
    mails = await mail_server()
    mails.stop()
    async with starting(mail=mail(mails)) as served:
        assert (await served.admin.post("/notifications/send/mail", json=HELLO)).status == 204
        assert await database.fetch_value("select count(*) from deliveries") == 1


async def test_announcements_leave_a_trace_for_the_auditor(served, database):
    await served.admin.post("/notifications/send/web", json=HELLO)
    row = await database.fetch_row("select * from audit order by id desc limit 1")
    assert (row["action_type"], row["user_id"]) == ("announcement", served.admin_id)
    assert row["attributes"] == {"notificator": "web", "users": 1}
