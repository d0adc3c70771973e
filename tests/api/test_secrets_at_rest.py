"""What works with secrets works with encrypted ones (docs/server.md#secrets-at-rest)."""

import pyotp
import pytest

from motorpool.api.logins.setup import fetch_setup_token
from motorpool.storage.encryption import Key, Keyring

KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
SECRET = "a-secret-of-some-length"
ATTRIBUTES = {
    "webhook.url": "https://example.org/hook",
    "webhook.secret": SECRET,
    "mail.smtp.host": "mail.example.org",
    "mail.smtp.password": SECRET,
    "ntfyTopic": "topic-of-ann",
}


@pytest.fixture
def database(database):
    database.keyring = Keyring([Key(b"k" * 32)])
    return database


TABLES = ("users", "devices", "groups", "server", "companies", "signing_keys", "keys", "settings", "audit")


async def rows(database):
    found = [
        await database.fetch_value(f"select array_agg({each}::text)::text from {each}") for each in TABLES
    ]
    return "\n".join(map(str, found))


async def test_a_login_with_codes_tokens_and_masks_are_as_without(starting, database):
    async with starting() as served:
        ann = await served.user("ann", attributes=ATTRIBUTES, deviceLimit=-1)
        shown = (await ann.get(f"/users/{ann.id}")).json()
        masked = {"webhook.secret": "********", "mail.smtp.password": "********"}
        assert shown["attributes"] == {**ATTRIBUTES, **masked}
        saved = await ann.put(f"/users/{ann.id}", json={**shown, "totpKey": KEY})
        assert (saved.status, saved.json()["attributes"]) == (200, shown["attributes"])
        form = {"email": "ann@example.org", "password": "ann"}
        for code, status in (("", 401), ("000000", 401), (pyotp.TOTP(KEY).at(served.clock.now()), 200)):
            sent = {**form, "code": code} if code else form
            assert (await served.client().post("/session", form=sent)).status == status
        account = await served.context.logins.accounts.by_id(ann.id)
        assert account.user.attributes == ATTRIBUTES
        token = (await ann.post("/session/token", form={})).text
        for path, body in (
            ("/devices", {"name": "d", "uniqueId": "d", "attributes": {"device.secret": SECRET}}),
            ("/groups", {"name": "g", "attributes": {"device.secret": SECRET}}),
            ("/companies", {"name": "c", "attributes": {"ticketWebhook": {"url": "https://example.org"}}}),
        ):
            made = (await ann.post(path, json=body)).json()
            again = await ann.put(f"{path}/{made['id']}", json={**made, "name": "new"})
            assert (again.status, again.json()["name"]) == (200, "new"), again.text
        settings = (await served.admin.get("/server")).json()
        settings["attributes"] = {"device.secret": SECRET}
        changed = await served.admin.put("/server", json=settings)
        assert changed.json()["attributes"] == {"device.secret": "********"}
        assert served.context.server.attributes == {"device.secret": SECRET}
        setup = await fetch_setup_token(database)
        text = await rows(database)
        for secret in (KEY, SECRET, "topic-of-ann", "example.org/hook", setup, setup.encode().hex()):
            assert secret not in text, secret
        assert served.context.logins.token_keys.current.hex() not in text
    # Another start reads the same keys.
    await database.execute("delete from users where email = 'admin@example.org'")
    await database.execute("update server set initialised = false")
    async with starting() as served:
        bearer = served.client({"Authorization": f"Bearer {token}"})
        assert (await bearer.get("/devices")).status == 200
        assert await fetch_setup_token(database) == setup
        # New signing keys are encrypted as well.
        assert (await served.admin.post("/server/signingkeys", form={})).status == 200
        assert (await bearer.get("/devices")).status == 200
        assert served.context.logins.token_keys.current.hex() not in await rows(database)
