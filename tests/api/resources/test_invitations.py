"""Invitations: who may mail a user a link to set a password, and what it does (docs/users.md#invitations)."""

import re
from datetime import timedelta

import pytest

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.settings import PublicSettings
from motorpool.api.request_limits import INVITATIONS_TO_USER

DAY = timedelta(days=1).total_seconds()


@pytest.fixture
async def letters(mail_server):
    return await mail_server()


@pytest.fixture
async def served(starting, letters):
    mail = MailSettings(host="127.0.0.1", port=letters.port, security="none", address="fleet@example.org")
    async with starting(mail=mail, public=PublicSettings(url="https://fleet.example.org/")) as running:
        yield running


async def invite(client, user_id):
    return await client.post(f"/users/{user_id}/invitation")


async def mailed(letters):
    """The next mail, and the token in it."""
    _, message = await letters.next()
    text = message.get_body(("plain",)).get_content()
    return message, re.search(r"https://fleet\.example\.org/reset-password#passwordReset=(\S+)", text)[1]


async def accept(served, token, password="chosen by ann"):
    return await served.client().post("/password/update", form={"token": token, "password": password})


async def test_who_is_invited_sets_a_password_by_the_mailed_link(served, letters):
    ann = await served.user("ann", attributes={"language": "de"})
    assert (await invite(served.admin, ann.id)).status == 204
    message, token = await mailed(letters)
    assert (message["To"], message["Subject"]) == ("ann@example.org", "Admin lädt Sie zu Motorpool ein")
    assert "innerhalb von 7 Tagen" in message.get_body(("plain",)).get_content()
    served.clock.move_wall(6 * DAY)
    assert (await accept(served, token)).status == 200
    await served.log_in("ann@example.org", "chosen by ann")
    assert (await accept(served, token)).status == 400
    entries = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    (entry,) = [each for each in entries if each["objectType"] == "invitation"]
    assert (entry["actionType"], entry["objectId"], entry["userId"]) == ("create", ann.id, served.admin_id)


async def test_an_invitation_is_accepted_within_a_week(served, letters):
    ann = await served.user("ann")
    assert (await invite(served.admin, ann.id)).status == 204
    _, token = await mailed(letters)
    served.clock.move_wall(8 * DAY)
    assert (await accept(served, token)).status == 400


async def test_managers_invite_their_users_and_nobody_who_has_more_than_they(served, letters):
    boss = await served.user("boss", userLimit=-1)
    new = {"name": "ann", "email": "ann@example.org", "password": "never told"}
    made = await boss.post("/users", json=new)
    assert (await invite(boss, made.json()["id"])).status == 204
    assert (await mailed(letters))[0]["To"] == "ann@example.org"
    stranger = await served.user("stranger")
    assert (await invite(boss, stranger.id)).status == 404
    assert (await invite(stranger, made.json()["id"])).status == 404
    record = (await served.admin.get(f"/users/{boss.id}")).json()
    limited = {**record, "limitCommands": True}
    assert (await served.admin.put(f"/users/{boss.id}", json=limited)).status == 200
    refused = await invite(boss, made.json()["id"])
    assert refused.status == 400
    assert "more rights than the caller" in refused.text
    assert (await invite(boss, boss.id)).status == 400
    assert (await invite(served.admin, 4_711_000)).status == 404


async def test_who_cannot_log_in_or_has_no_address_is_not_invited(served):
    disabled = (
        await served.admin.post(
            "/users", json={"name": "d", "email": "d@example.org", "password": "secret 1", "disabled": True}
        )
    ).json()
    assert (await invite(served.admin, disabled["id"])).status == 400


async def test_nobody_is_mailed_as_often_as_others_like(served, letters):
    ann = await served.user("ann")
    for _ in range(INVITATIONS_TO_USER):
        assert (await invite(served.admin, ann.id)).status == 204
    assert (await invite(served.admin, ann.id)).status == 429


async def test_without_a_mail_account_the_server_says_so(starting):
    async with starting() as served:
        ann = await served.user("ann")
        answer = await invite(served.admin, ann.id)
        assert (answer.status, answer.text) == (400, "the server has no mail account")


async def test_an_invitation_to_a_mistyped_address_ends_when_the_address_is_corrected(served, letters):
    ann = await served.user("ann")
    assert (await invite(served.admin, ann.id)).status == 204
    _, stray = await mailed(letters)
    record = (await served.admin.get(f"/users/{ann.id}")).json()
    answer = await served.admin.put(f"/users/{ann.id}", json={**record, "email": "anne@example.org"})
    assert answer.status == 200, answer.text
    refused = await accept(served, stray)
    assert (refused.status, "another address" in refused.text) == (400, True)
