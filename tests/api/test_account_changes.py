"""What follows a change of what a user logs in with: other logins end, and the user is told
(docs/authentication.md#passwords).
"""

import base64

import pyotp
import pytest

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.mailings.account_mails import AccountChange
from motorpool.actors.settings import PublicSettings
from motorpool.actors.words.catalog import languages, read_catalog

KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OTHER_KEY = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
CHANNELS = {
    "webhook.url": "https://example.org/hook",
    "telegramChatId": "1",
    "pushoverUserKey": "u",
    "pushoverDeviceNames": "phone",
    "ntfyTopic": "topic",
    "mail.smtp.host": "mail.example.org",
    "mail.smtp.password": "secret",
}


async def change(client, number, **fields):
    me = (await client.get(f"/users/{number}")).json()
    return await client.put(f"/users/{number}", json={**me, **fields})


async def log_in(served, name, key=None):
    client = served.client()
    form = {"email": f"{name}@example.org", "password": name}
    if key:
        form["code"] = pyotp.TOTP(key).at(served.clock.now())
    answer = await client.post("/session", form=form)
    assert answer.status == 200, answer.text
    return client


async def is_in(client):
    return (await client.get("/devices")).status == 200


@pytest.mark.parametrize("who", ["ann", "administrator"])
@pytest.mark.parametrize(("before", "after"), [(None, KEY), (KEY, OTHER_KEY), (KEY, "")])
async def test_a_changed_key_of_one_time_codes_ends_all_other_logins(served, who, before, after):
    ann = await served.user("ann")
    if before:
        assert (await change(ann, ann.id, totpKey=before)).status == 200
        served.clock.move_wall(60)
    own = await log_in(served, "ann", before)
    served.clock.move_wall(60)
    other = await log_in(served, "ann", before)
    token = (await other.post("/session/token", form={})).text
    bearer = served.client({"Authorization": f"Bearer {token}"})
    by_token = served.client()
    assert (await by_token.get(f"/session?token={token}")).status == 200
    bystander = await served.user("ben")
    for client in (own, other, bearer, by_token, bystander):
        assert await is_in(client)
    # A change of something else ends nothing.
    assert (await change(own, ann.id, name="Ann Lee")).status == 200
    assert await is_in(other)

    changer = own if who == "ann" else served.admin
    assert (await change(changer, ann.id, totpKey=after)).status == 200
    kept = [own, bystander] if who == "ann" else [bystander]
    for client in kept:
        assert await is_in(client)
    for client in {own, other, bearer, by_token} - set(kept):
        assert (await client.get("/devices")).status == 401
    assert (await other.get("/session")).status == 404


async def test_basic_ends_with_the_first_key(served):
    ann = await served.user("ann")
    credential = base64.b64encode(b"ann@example.org:ann").decode()
    basic = served.client({"Authorization": f"Basic {credential}"})
    assert await is_in(basic)
    assert (await change(ann, ann.id, totpKey=KEY)).status == 200
    assert (await basic.get("/devices")).status == 401


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"email": "other@example.org"}, "email"),
        ({"login": "lee"}, "login"),
        ({"phone": "+4930"}, "phone"),
        *(({"attributes": {key: value}}, key) for key, value in CHANNELS.items()),
        (
            {"attributes": {"webhook.url": "https://example.org", "webhook.secret": "s" * 20}},
            "webhook.secret",
        ),
    ],
)
async def test_how_the_server_reaches_a_user_is_changed_with_the_password_or_soon_after_a_login(
    served, fields, named
):
    ann = await served.user("ann")
    token = (await ann.post("/session/token", form={})).text
    bearer = served.client({"Authorization": f"Bearer {token}"})
    served.clock.move_wall(16 * 60)
    for client in (ann, bearer):
        refused = await change(client, ann.id, **fields)
        assert refused.status == 400
        assert refused.text.startswith("currentPassword: needed to change ")
        assert named in refused.text
    assert (await change(bearer, ann.id, **fields, currentPassword="guess")).status == 400
    assert (await change(bearer, ann.id, **fields, currentPassword="ann")).status == 200
    # Clients send back what they received, with the masks of secrets: no change.
    assert (await change(bearer, ann.id, name="Ann Lee", zoom=3)).status == 200
    removed = {"attributes": {named: None}} if "attributes" in fields else {named: None}
    if named != "email":
        refused = await change(bearer, ann.id, **removed)
        assert (refused.status, named in refused.text) == (400, True)
        assert (await change(await log_in(served, "ann"), ann.id, **removed)).status == 200


async def test_secrets_that_are_sent_back_masked_or_left_out_are_no_change(served):
    ann = await served.user("ann", attributes={**CHANNELS, "webhook.secret": "s" * 20})
    served.clock.move_wall(16 * 60)
    me = (await ann.get(f"/users/{ann.id}")).json()
    assert me["attributes"]["webhook.secret"] == "********"
    without = {key: value for key, value in me["attributes"].items() if "secret" not in key}
    for attributes in (me["attributes"], without, {**without, "theme": "dark"}):
        assert (await change(ann, ann.id, attributes=attributes)).status == 200
    assert (await change(ann, ann.id, attributes={**without, "webhook.secret": None})).status == 400
    # Of others an administrator changes them as before.
    assert (await change(served.admin, ann.id, phone="1", login="lee", attributes={})).status == 200


@pytest.fixture
async def letters(mail_server):
    return await mail_server()


@pytest.fixture
async def mailing(starting, letters):
    mail = MailSettings(host="127.0.0.1", port=letters.port, security="none", address="fleet@example.org")
    async with starting(mail=mail, public=PublicSettings(url="https://fleet.example.org/")) as served:
        yield served


async def test_the_user_is_told_by_mail_of_changes_of_what_they_log_in_with(mailing, letters):
    ann = await mailing.user("ann", login="http://evil.example", phone="1")
    told = []

    async def expect(subject, fields, to="ann@example.org", client=ann):
        assert (await change(client, ann.id, **fields)).status == 200
        _, letter = await letters.next()
        assert (letter["To"], letter["Subject"]) == (to, subject)
        text = letter.get_body(("plain",)).get_content()
        assert ("https://fleet.example.org" in text, "evil" in letter.as_string()) == (True, False)
        told.append(subject)

    await expect("Your password was changed", {"password": "second"})
    await expect("Your login name was changed", {"login": "lee"})
    await expect("Your one-time codes were set up", {"totpKey": KEY})
    await expect("Your one-time codes were switched off", {"totpKey": ""}, client=mailing.admin)
    await expect("Your password was changed", {"password": "third"}, client=mailing.admin)
    again = mailing.client()
    form = {"email": "lee", "password": "third"}
    assert (await again.post("/session", form=form)).status == 200
    # What is the same, or no part of a login, is not told.
    assert (await change(again, ann.id, phone="2", email="ANN@example.org")).status == 200
    own = {"mail.smtp.host": "127.0.0.1", "mail.smtp.port": 1}
    await expect(
        "Your e-mail address was changed",
        {"email": "new@example.org", "attributes": own},
        to="ANN@example.org",
        client=again,
    )


async def test_without_mail_nothing_waits_to_be_sent(served, database):
    ann = await served.user("ann")
    assert (await change(ann, ann.id, password="second", email="new@example.org")).status == 200
    assert await database.fetch_value("select count(*) from deliveries") == 0


@pytest.mark.parametrize("language", languages())
def test_each_language_has_the_mails(language):
    for each in AccountChange:
        subject, body = read_catalog(language).mails[each.value]
        text = body.render(account="a@example.org", server="https://x.example", time="12:00")
        assert subject.render()
        for value in ("a@example.org", "https://x.example", "12:00"):
            assert value in text
