import base64
import re
from datetime import timedelta

import pytest
import trio
import trio.testing

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.settings import PublicSettings
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.auth.tokens import issue
from motorpool.api.login_settings import UserSettings
from motorpool.api.settings import HttpSettings
from motorpool.storage.accounts.signing_keys import SigningKey

HOUR = timedelta(hours=1).total_seconds()


@pytest.fixture
async def letters(mail_server):
    return await mail_server()


@pytest.fixture
async def served(starting, letters):
    async with starting(
        mail=mail(letters), public=PublicSettings(url="https://fleet.example.org/")
    ) as running:
        yield running


def mail(letters):
    return MailSettings(host="127.0.0.1", port=letters.port, security="none", address="fleet@example.org")


async def ask(served, email, **sent):
    return await served.client().post("/password/reset", form={"email": email}, **sent)


async def link(letters):
    """The token of the next mail."""
    envelope, message = await letters.next()
    text = message.get_body(("plain",)).get_content()
    (found,) = re.findall(r"https://fleet\.example\.org/reset-password#passwordReset=(\S+)", text)
    return envelope, message, found


async def update(served, token, password="new"):
    return await served.client().post("/password/update", form={"token": token, "password": password})


async def log_in(served, email, password):
    return (await served.client().post("/session", form={"email": email, "password": password})).status


async def test_a_forgotten_password_is_replaced_by_the_mailed_link(served, letters):
    await served.user("ann")
    assert (await ask(served, " ANN@example.org")).status == 200
    envelope, message, token = await link(letters)
    assert envelope.rcpt_tos == ["ann@example.org"]
    assert (message["To"], message["From"]) == ("ann@example.org", "Motorpool <fleet@example.org>")
    assert "Motorpool" in message["Subject"]
    assert "60 minutes" in message.get_body(("plain",)).get_content()
    html = message.get_body(("html",)).get_content()
    assert f'href="https://fleet.example.org/reset-password#passwordReset={token}"' in html
    assert (await update(served, token)).status == 200
    assert await log_in(served, "ann@example.org", "ann") == 401
    assert await log_in(served, "ann@example.org", "new") == 200


async def test_the_answer_says_nothing_of_who_is_known_and_asks_nothing_of_the_database(served, letters):
    ann, ben = await served.user("ann"), await served.user("ben")
    user = (await served.admin.get(f"/users/{ben.id}")).json()
    await served.admin.put(f"/users/{ben.id}", json={**user, "disabled": True})
    database, served.context.database = served.context.database, None
    answers = [
        await ask(served, email)
        for email in ("nobody@example.org", "ben@example.org", "nul\0@example.org", "x", "ann@example.org")
    ]
    served.context.database = database
    assert {(answer.status, answer.body, str(answer.headers)) for answer in answers} == {
        (200, answers[0].body, str(answers[0].headers))
    }
    # They are looked at in turn: the only mail is the last one's.
    envelope, _, _ = await link(letters)
    assert envelope.rcpt_tos == ["ann@example.org"]
    assert letters.left == 0
    assert ann.id


async def test_a_form_without_an_address_is_400(served):
    for form in ({}, {"email": ""}, {"mail": "ann@example.org"}, {"email": "a" * 2000}):
        answer = await served.client().post("/password/reset", form=form)
        assert (answer.status, "email" in answer.text) == (400, True)


async def test_where_no_mail_is_configured_the_answer_is_the_same(starting, database):
    async with starting() as served:
        await served.user("ann")
        assert (await ask(served, "ann@example.org")).status == 200
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert await database.fetch_value("select count(*) from deliveries") == 0


async def test_the_link_never_leads_where_a_request_says(served, letters):
    await served.user("ann")
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Origin": "https://evil.example"}
    assert (await ask(served, "ann@example.org", headers=headers)).status == 200
    _, message, _ = await link(letters)
    assert "evil" not in message.as_string()


async def test_the_mail_holds_nothing_that_who_registered_could_have_written(served, letters):
    await served.admin.post(
        "/users", json={"name": "http://evil.example", "email": "ben@example.org", "password": "b"}
    )
    assert (await ask(served, "ben@example.org")).status == 200
    envelope, message, _ = await link(letters)
    assert envelope.rcpt_tos == ["ben@example.org"]
    assert "evil" not in message.as_string()


async def test_the_servers_own_account_sends_it_whatever_the_user_has_set(served, letters, mail_server):
    own = await mail_server()
    attributes = {
        "mail.smtp.host": "127.0.0.1",
        "mail.smtp.port": own.port,
        "mail.smtp.from": "a@example.org",
    }
    await served.user("ann", attributes=attributes)
    await ask(served, "ann@example.org")
    _, message, _ = await link(letters)
    assert "fleet@example.org" in message["From"]
    assert own.left == 0


async def test_a_link_works_once_even_if_used_twice_at_the_same_time(served, letters):
    await served.user("ann")
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    statuses = []

    async def use(number):
        statuses.append(((await update(served, token, f"new{number}")).status, number))

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(use, number)
    assert sorted(status for status, _ in statuses) == [200, 400, 400]
    (won,) = (number for status, number in statuses if status == 200)
    assert await log_in(served, "ann@example.org", f"new{won}") == 200
    again = await update(served, token)
    assert (again.status, "used already" in again.text) == (400, True)


async def test_a_link_ends_with_its_hour_and_with_any_change_of_the_password(served, letters):
    ann = await served.user("ann")
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    served.clock.move_wall(1)
    me = (await ann.get("/session")).json()
    await ann.put(f"/users/{ann.id}", json={**me, "password": "other"})
    assert (await letters.next())[1]["Subject"] == "Your password was changed"
    assert (await update(served, token)).status == 400
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    served.clock.move_wall(HOUR)
    late = await update(served, token)
    assert (late.status, "expired" in late.text) == (400, True)
    assert await log_in(served, "ann@example.org", "other") == 200


async def test_all_that_the_old_password_opened_is_shut_by_the_new_one(served, letters):
    ann = await served.user("ann")
    bearer = (await ann.post("/session/token", form={})).text
    basic = "Basic " + base64.b64encode(b"ann@example.org:ann").decode()
    served.clock.move_wall(1)
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    assert (await update(served, token)).status == 200
    envelope, told = await letters.next()
    assert (envelope.rcpt_tos, told["Subject"]) == (["ann@example.org"], "Your password was changed")
    assert (await ann.get("/devices")).status == 401
    for header in (f"Bearer {bearer}", basic):
        assert (await served.client({"Authorization": header}).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={bearer}")).status == 404


async def test_who_tried_too_often_before_is_not_kept_waiting_after(served, letters):
    await served.user("ann")
    for _ in range(10):
        assert await log_in(served, "ann@example.org", "forgotten") == 401
    assert await log_in(served, "ann@example.org", "forgotten") == 429
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    await update(served, token)
    assert await log_in(served, "ann@example.org", "new") == 200


async def test_other_tokens_and_what_is_none_set_no_password(served):
    ann = await served.user("ann")
    session = (await ann.post("/session/token", form={})).text
    key, now = served.context.logins.token_keys, served.clock.now()
    share, _ = issue(key, ann.id, "share", now + timedelta(hours=1), now=now)
    foreign, _ = issue(
        SigningKeys(None, [SigningKey(1, b"x" * 32, now, None)]),
        ann.id,
        "reset",
        now + timedelta(hours=1),
        now=now,
    )
    for token in (session, share, foreign, "x", "é"):
        answer = await update(served, token)
        assert (answer.status, "\n" in answer.text) == (400, False)
    assert await log_in(served, "ann@example.org", "ann") == 200


async def test_a_reset_token_opens_nothing_else(served, letters):
    await served.user("ann")
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    assert (await served.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={token}")).status == 404
    assert (await served.admin.post("/session/token/revoke", form={"token": token})).status == 400


async def test_a_user_who_is_gone_is_404_and_one_who_may_not_log_in_400(served, letters):
    ann, ben = await served.user("ann"), await served.user("ben")
    await ask(served, "ann@example.org")
    _, _, anns = await link(letters)
    await ask(served, "ben@example.org")
    _, _, bens = await link(letters)
    await served.admin.delete(f"/users/{ann.id}")
    assert (await update(served, anns)).status == 404
    user = (await served.admin.get(f"/users/{ben.id}")).json()
    await served.admin.put(f"/users/{ben.id}", json={**user, "disabled": True})
    assert (await update(served, bens)).status == 400


async def test_an_empty_or_endless_password_is_400_and_spends_no_link(served, letters):
    await served.user("ann")
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    for form in (
        {"token": token},
        {"token": token, "password": ""},
        {"token": token, "password": "x" * 1025},
        {},
    ):
        assert (await served.client().post("/password/update", form=form)).status == 400
    assert (await update(served, token)).status == 200


async def test_one_account_gets_so_many_mails_and_nobody_is_told_that_it_gets_no_more(starting, letters):
    users = UserSettings(resets_per_account=2, reset_minutes=10)
    public = PublicSettings(url="https://fleet.example.org")
    async with starting(mail=mail(letters), users=users, public=public) as served:
        await served.user("ann")
        await served.user("ben")
        for _ in range(4):
            assert (await ask(served, "ann@example.org")).status == 200
        assert (await ask(served, "ben@example.org")).status == 200
        sent = sorted([(await link(letters))[0].rcpt_tos[0] for _ in range(3)])
        assert sent == ["ann@example.org", "ann@example.org", "ben@example.org"]
        assert letters.left == 0


async def test_one_address_may_ask_so_often_before_429(starting):
    http = HttpSettings(trusted_proxies=("127.0.0.1",))
    async with starting(users=UserSettings(resets_per_address=2, reset_minutes=10), http=http) as served:
        for _ in range(2):
            assert (await ask(served, "x@example.org")).status == 200
        refused = await ask(served, "x@example.org")
        assert (refused.status, refused.headers["Retry-After"]) == (429, "600")
        elsewhere = {"X-Forwarded-For": "203.0.113.9"}
        assert (await ask(served, "x@example.org", headers=elsewhere)).status == 200
        # Nor does it keep anybody from logging in.
        assert await log_in(served, "admin@example.org", "admin") == 200


async def test_temporary_users_get_no_mail(served, letters):
    for name in ("ann", "ben"):
        await served.user(name)
    user = (await served.admin.get("/users?keyword=ann")).json()[0]
    await served.admin.put(f"/users/{user['id']}", json={**user, "temporary": True})
    await ask(served, "ann@example.org")
    await ask(served, "ben@example.org")
    envelope, _, _ = await link(letters)
    assert envelope.rcpt_tos == ["ben@example.org"]
    assert letters.left == 0


async def test_a_new_password_by_mail_is_audited_and_no_token_is_logged(served, letters, database, caplog):
    caplog.set_level("DEBUG")
    ann = await served.user("ann")
    await ask(served, "ann@example.org")
    _, _, token = await link(letters)
    await update(served, token)
    row = await database.fetch_row("select * from audit order by id desc limit 1")
    assert (row["action_type"], row["object_type"], row["object_id"]) == ("edit", "user", ann.id)
    assert (row["user_id"], row["attributes"]) == (ann.id, {"password": "reset"})
    ours = "\n".join(each.getMessage() for each in caplog.records if each.name.startswith("motorpool"))
    assert token not in ours
