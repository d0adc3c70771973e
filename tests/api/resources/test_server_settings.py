"""Settings that administrators change while the server runs."""

import json

import trio
from tests.api.cases import on_one_server
from tests.api.cluster.conftest import member

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.deliveries.notificators.mail import SECURITIES, MailSettings
from motorpool.actors.messages.changes import EverythingChanged
from motorpool.actors.settings import RETENTION_DEFAULTS
from motorpool.api.configuration import live
from motorpool.api.configuration.live import SECTIONS, changeable
from motorpool.api.login_settings import UserSettings
from motorpool.api.map_settings import MapSettings
from motorpool.api.settings import ClusterSettings, WebhookSettings
from motorpool.storage.accounts import stored_settings
from motorpool.storage.encryption import Key, Keyring
from motorpool.storage.errors import StorageUnavailable

PATIENCE = 120.0
LOCAL = {"webhook": WebhookSettings(allow=("127.0.0.0/8",))}
TILES = "https://tiles.example.org/{z}/{x}/{y}.png"
MASK = "********"


async def settings(client):
    """The settings by `section.name`."""
    answer = await client.get("/server/settings")
    assert answer.status == 200, answer.text
    return flat(answer)


def flat(answer):
    return {
        f"{section['name']}.{each['name']}": each
        for section in answer.json()["sections"]
        for each in section["settings"]
    }


async def change(client, status=200, headers=None, **sections):
    answer = await client.put("/server/settings", json=sections, headers=headers)
    assert answer.status == status, answer.text
    return answer


def account(server, **fields):
    known = {"host": "127.0.0.1", "port": server.port, "security": "none", "address": "fleet@example.net"}
    return {**known, **fields}


async def test_all_settings_are_described_with_defaults_and_where_they_come_from(served):
    answer = await served.admin.get("/server/settings")
    assert [section["name"] for section in answer.json()["sections"]] == list(SECTIONS)
    assert all(section["description"].endswith(".") for section in answer.json()["sections"])
    found = flat(answer)
    assert found.keys() == {".".join(place) for place in changeable()}
    for each in found.values():
        assert each["description"].endswith("."), each
        assert (each["source"], each["changeable"], each["value"]) == ("default", True, each["default"])
    assert found["mail.port"] == {
        "name": "port",
        "description": "Its port; 0: 465 with `tls`, 587 with `starttls`, 25 with `none`.",
        "type": "integer",
        "optional": False,
        "value": 0,
        "default": 0,
        "unit": "",
        "choices": [],
        "minimum": 0,
        "maximum": 65535,
        "secret": False,
        "source": "default",
        "changeable": True,
        "variable": "MOTORPOOL_MAIL_PORT",
    }
    assert found["mail.security"]["choices"] == list(SECURITIES)
    assert (found["openid.scopes"]["type"], found["openid.scopes"]["value"]) == (
        "list",
        ["openid", "profile", "email"],
    )
    assert (found["events.retention_days"]["value"], found["events.retention_days"]["unit"]) == (730, "days")
    # Nothing else of the files of devices can be changed: it is built in.
    assert "files.reserve_bytes" not in found


async def test_a_database_older_than_the_defaults_of_retention_keeps_everything(starting, database):
    await database.execute("update installation set has_retention_defaults = false")
    try:
        async with starting() as served:
            found = await settings(served.admin)
    finally:
        await database.execute("update installation set has_retention_defaults = true")
    assert {found[".".join(place)]["value"] for place in RETENTION_DEFAULTS} == {0}


async def test_only_administrators_see_and_change_them(served):
    manager = await served.user("boss", userLimit=-1)
    for client, status in ((served.client(), 401), (manager, 400)):
        assert (await client.get("/server/settings")).status == status
        assert (await client.put("/server/settings", json={"map": {"tiles": TILES}})).status == status
        assert (await client.post("/server/settings/test/mail")).status == status
    assert (await settings(served.admin))["map.tiles"]["source"] == "default"


async def test_a_login_that_was_long_ago_needs_the_password(served):
    token = (await served.admin.post("/session/token", form={})).text
    bearer = served.client({"Authorization": f"Bearer {token}"})
    refused = await change(bearer, 400, map={"tiles": TILES})
    assert refused.text.startswith("currentPassword: needed to change map.tiles")
    await change(bearer, map={"tiles": TILES}, currentPassword="admin")
    served.clock.move_wall(16 * 60)
    await change(served.admin, 400, map={"tiles": "none"})
    wrong = await change(served.admin, 400, map={"tiles": "none"}, currentPassword="wrong")
    assert wrong.text == "currentPassword: is wrong"
    await change(served.admin, map={"tiles": "none"}, currentPassword="admin")


async def test_what_is_sent_changes_and_all_else_stays_until_it_is_null(served, database):
    changed = flat(await change(served.admin, map={"tiles": TILES}, quotas={"user_tasks": 3}))
    assert (changed["map.tiles"]["value"], changed["map.tiles"]["source"]) == (TILES, "database")
    changed = flat(await change(served.admin, quotas={"user_tasks": 4}))
    assert (changed["map.tiles"]["value"], changed["quotas.user_tasks"]["value"]) == (TILES, 4)
    changed = flat(await change(served.admin, map={"tiles": None}, quotas={"user_tasks": None}))
    assert {changed[name]["source"] for name in ("map.tiles", "quotas.user_tasks")} == {"default"}
    assert changed["quotas.user_tasks"]["value"] == 500
    assert await database.fetch_value("select count(*) from settings") == 0


WRONG = [
    ({"map": {"tiles": "ftp://tiles"}}, "map.tiles: 'ftp://tiles' is neither openfreemap, none nor an"),
    ({"map": {"file": "encryption.key"}}, "map.file: 'encryption.key' is no file in the data folder"),
    ({"map": {"file": "/etc/x.pmtiles"}}, "map.file: '/etc/x.pmtiles' is no file in the data folder"),
    ({"map": {"file": "../x.pmtiles"}}, "map.file: '../x.pmtiles' is no file in the data folder"),
    ({"mail": {"port": 70_000}}, "mail.port: 70000 is more than 65535"),
    ({"mail": {"port": True}}, "mail.port: True is not a number"),
    ({"mail": {"security": "ssl"}}, f"mail.security: 'ssl' is none of {', '.join(SECURITIES)}"),
    ({"mail": {"address": "nobody"}}, "mail.address: 'nobody' is no mail address"),
    ({"mail": {"host": "mail.example.org"}}, "[mail] host and [mail] address need each other"),
    ({"mail": {"name": ["a"]}}, "mail.name: ['a'] is not a text"),
    ({"mail": {"name": "a\nBcc: b"}}, "mail.name: holds a character that is not printed"),
    ({"mail": {"name": "a" * 4001}}, "mail.name: longer than 4000 characters"),
    ({"sms": {"headers": ["X-A: 1\r\nX-B: 2"]}}, "sms.headers: holds a character that is not printed"),
    ({"sms": {"url": "secret"}}, "sms.url: the value is no address such as"),
    ({"geocoder": {"type": "maps"}}, "geocoder.type: 'maps' is none of "),
    ({"geocoder": {"positions": "perhaps"}}, "geocoder.positions: 'perhaps' is neither true nor false"),
    ({"openid": {"force": True}}, "[openid] force needs [openid] issuer and [openid] client_id"),
    ({"openid": {"scopes": [1]}}, "openid.scopes: [1] is not a list of words"),
    ({"positions": {"retention_days": -1}}, "positions.retention_days: -1 is less than 0"),
    ({"positions": {"retention_days": 36501}}, "positions.retention_days: 36501 is more than 36500"),
    ({"schedules": {"retention_days": 36501}}, "schedules.retention_days: 36501 is more than 36500"),
    ({"quotas": {"user_tasks": 2**63}}, "quotas.user_tasks: 9223372036854775808 is more than 9.22337e+18"),
    ({"geocoder": {"per_second": 10**400}}, "geocoder.per_second: 1000"),
    ({"files": {"reserve_bytes": 1}}, "files.reserve_bytes: there is no such setting"),
    ({"quotas": {"user_tasks": 1.5}}, "quotas.user_tasks: 1.5 is not a whole number"),
    ({"quotas": {"user_task": 1}}, "quotas.user_task: there is no such setting"),
    ({"http": {"body_bytes": 1}}, "object contains unknown field `http`"),
    ({"map": 1}, "map: "),
]


@on_one_server(("body", "text"), WRONG)
async def test_a_value_that_the_file_could_not_have_is_refused_with_its_name_and_nothing_changes(
    served, body, text
):
    answer = await served.admin.put("/server/settings", json={"ntfy": {"anonymous": True}, **body})
    assert (answer.status, answer.text[: len(text)]) == (400, text)
    assert (await settings(served.admin))["ntfy.anonymous"]["source"] == "default"


async def test_of_two_changes_at_once_with_the_same_version_one_wins(served):
    tag = (await served.admin.get("/server/settings")).headers["ETag"]
    answers = {}

    async def put(name):
        body = {"map": {"attribution": name}}
        answers[name] = await served.admin.put("/server/settings", json=body, headers={"If-Match": tag})

    async with trio.open_nursery() as nursery:
        for name in ("one", "two", "three"):
            nursery.start_soon(put, name)
    (winner,) = [name for name, answer in answers.items() if answer.status == 200]
    for name in answers.keys() - {winner}:
        assert answers[name].status == 400
        assert answers[name].text.startswith("settings was changed: it is at version")
    assert (await settings(served.admin))["map.attribution"]["value"] == winner
    assert answers[winner].headers["ETag"] != tag


async def test_mail_goes_through_the_new_server_at_once_and_secrets_are_neither_shown_nor_stored_plainly(
    starting, database, mail_server
):
    database.keyring = Keyring([Key(b"k" * 32)])
    first, second = await mail_server(login=("fleet", "pass-1")), await mail_server(login=("b", "pass-2"))
    async with starting(**LOCAL) as served:
        assert (await served.admin.post("/server/settings/test/mail")).status == 400
        sent = account(first, username="fleet", password="pass-1")
        changed = flat(await change(served.admin, mail=sent))
        assert changed["mail.password"]["value"] == MASK
        tested = await served.admin.post("/server/settings/test/mail")
        assert (tested.status, tested.json()) == (200, {"result": "admin@example.org"})
        assert (await first.next())[1]["From"] == "Motorpool <fleet@example.net>"
        # Masked and left out: it stays.
        await change(served.admin, mail={"password": MASK, "name": "Fleet"})
        assert (await served.admin.post("/notifications/test/mail")).status == 204
        assert (await first.next())[1]["From"] == "Fleet <fleet@example.net>"
        # Who has it sent elsewhere knows it.
        refused = await change(served.admin, 400, mail={"port": second.port})
        assert refused.text == "mail.password: give it again, as it will be sent by another port"
        await change(served.admin, mail={"port": second.port, "username": "b", "password": "pass-2"})
        assert (await served.admin.post("/server/settings/test/mail")).status == 200
        assert (await second.next())[1]["To"] == "admin@example.org"
        assert second.logins == ["b"]
        rows = await database.fetch_value("select array_agg(s::text)::text from settings s")
        audited = [each async for each in actions(served)]
    assert "pass-" not in rows
    assert rows.count("enc:1:") == 1
    assert audited[0]["settings"] == [f"mail.{name}" for name in sent]
    assert "pass-" not in json.dumps(audited)
    # Another start has them too.
    async with starting(is_first=False, **LOCAL) as served:
        assert (await served.admin.post("/server/settings/test/mail")).status == 200
        await second.next()


async def actions(served):
    rows = await served.context.database.fetch(
        "select attributes from audit where object_type = 'settings' order by id"
    )
    for row in rows:
        yield row["attributes"]


async def test_an_address_of_an_administrator_reaches_no_private_network(served, mail_server, web_server):
    letters, web = await mail_server(), web_server()
    await change(served.admin, mail=account(letters), sms={"url": web.url}, telegram={"token": "1:a"})
    await change(served.admin, telegram={"url": web.url, "token": "1:a"})
    await change(served.admin, geocoder={"type": "nominatim", "url": web.url})
    await change(served.admin, openid={"issuer": web.url, "client_id": "fleet"})
    me = (await served.admin.get("/session")).json()
    me |= {"phone": "111", "attributes": {"telegramChatId": "5"}}
    assert (await served.admin.put(f"/users/{me['id']}", json=me)).status == 200
    for section in ("mail", "sms", "telegram", "geocoder", "openid"):
        refused = await served.admin.post(f"/server/settings/test/{section}")
        assert refused.status == 400, section
        if section != "openid":
            assert "127.0.0.1 lies in a private network or is this server" in refused.text
    assert not web.asked


async def test_what_file_or_environment_set_wins_and_says_so(starting, mail_server):
    letters = await mail_server()
    sources = {("mail", "host"): "file", ("mail", "password"): "environment", ("map", "tiles"): "file"}
    mail = MailSettings(host="127.0.0.1", port=1, address="a@example.org", password="secret")
    async with starting(mail=mail, map=MapSettings(tiles=TILES), sources=sources) as served:
        found = await settings(served.admin)
        assert [found[name]["source"] for name in ("mail.host", "mail.password", "mail.name")] == [
            "file",
            "environment",
            "default",
        ]
        # Nobody has the password of the environment sent to a server of theirs.
        changeable = {name: found[f"mail.{name}"]["changeable"] for name in ("host", "port", "name")}
        assert changeable == {"host": False, "port": False, "name": True}
        for sent, text in (
            ({"map": {"tiles": ""}}, "map.tiles: is set in the file, which wins"),
            ({"mail": {"password": "x"}}, "mail.password: is set in the environment, which wins"),
            (
                {"mail": {"port": letters.port}},
                "mail.port: can be changed in the environment alone, as password is set there",
            ),
        ):
            assert (await change(served.admin, 400, **sent)).text == text
        await change(served.admin, mail={"name": "Ours"})
    # What the database has is not lost where the file goes before it.
    async with starting(is_first=False, sources={("mail", "name"): "file"}) as served:
        assert (await settings(served.admin))["mail.name"] == (
            found["mail.name"] | {"source": "file", "changeable": False}
        )
    async with starting(is_first=False) as served:
        assert (await settings(served.admin))["mail.name"]["value"] == "Ours"


async def test_what_does_not_fit_the_file_any_more_is_left_out_and_the_rest_is_used(
    starting, database, caplog
):
    async with starting() as served:
        await change(served.admin, openid={"issuer": "https://id.example.org", "client_id": "fleet"})
        await change(served.admin, map={"tiles": TILES}, openid={"force": True})
        await change(served.admin, openid={"force": False})
    await database.execute("delete from settings where name = 'client_id'")
    async with starting(is_first=False) as served:
        found = await settings(served.admin)
        assert (found["openid.issuer"]["value"], found["map.tiles"]["value"]) == (None, TILES)
    assert "[openid]: the settings of the database are not used: [openid] issuer and" in caplog.text


async def test_the_geocoder_the_map_quotas_and_logins_follow(starting, web_server):
    web = web_server(lambda _: (200, b'{"address": {"road": "Calle Mayor"}}'))
    async with starting(**LOCAL) as served:
        asked = "/server/geocode?latitude=1&longitude=2"
        assert (await served.admin.get(asked)).status == 500
        await change(served.admin, geocoder={"type": "nominatim", "url": web.url, "format": "%r"})
        assert (await served.admin.get(asked)).text == "Calle Mayor"
        tests = [await served.admin.post("/server/settings/test/geocoder") for _ in range(2)]
        assert [test.json() for test in tests] == [{"result": "Calle Mayor"}] * 2
        assert len(web.asked) == 3, "a test asks anew"
        await change(served.admin, geocoder={"format": "(%r)"})
        assert (await served.admin.get(asked)).text == "(Calle Mayor)"

        async def policy():
            page = await served.client().call("GET", "/", headers={"Accept": "text/html"})
            return page.headers["Content-Security-Policy"]

        assert "tiles.example.org" not in await policy()
        await change(served.admin, map={"tiles": TILES})
        assert "connect-src 'self' https://tiles.example.org" in await policy()

        await change(served.admin, quotas={"server_tasks": 1})
        order = {"type": "alarm", "notificators": "web"}
        answers = [await served.admin.post("/notifications", json=order) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 400]
        assert "(quotas.server_tasks)" in answers[1].text

        assert (await served.client().get("/server")).json()["openIdEnabled"] is False
        await change(served.admin, openid={"issuer": "https://id.example.org", "client_id": "fleet"})
        assert (await served.client().get("/server")).json()["openIdEnabled"] is True


async def test_a_provider_of_logins_is_tested_by_its_document(starting, openid):
    async with starting(**LOCAL) as served:
        given = openid.settings()
        values = {"issuer": given.issuer, "client_id": given.client_id, "client_secret": given.client_secret}
        await change(served.admin, openid=values)
        tested = await served.admin.post("/server/settings/test/openid")
        assert (tested.status, tested.json()["result"].startswith(given.issuer)) == (200, True)


async def test_tests_are_limited_and_only_of_what_there_is(starting, web_server):
    async with starting(users=UserSettings(tests_per_hour=2), **LOCAL) as served:
        for section in ("map", "quotas", "mail", "geocoder", "openid", "x"):
            refused = await served.admin.post(f"/server/settings/test/{section}")
            assert (refused.status, "that can be tested" in refused.text) == (400, True)
        await change(served.admin, geocoder={"type": "nominatim", "url": web_server().url})
        statuses = [(await served.admin.post("/server/settings/test/geocoder")).status for _ in range(3)]
        assert statuses[2] == 429


async def test_the_retention_of_positions_follows(served):
    await change(served.admin, positions={"retention_days": 5}, files={"device_quota_bytes": 1000})
    assert served.context.settings.positions.retention_days == 5
    assert served.context.files.quota._quota == 1000


async def test_another_server_of_the_database_follows(database, tmp_path):
    cluster = {"cluster": ClusterSettings(name="north")}
    async with (
        member(database, tmp_path / "1", **cluster) as one,
        member(database, tmp_path / "2", is_first=False, **cluster) as other,
    ):
        await change(one.admin, map={"tiles": TILES})
        with trio.fail_after(PATIENCE):
            while other.context.settings.map.tiles != TILES:  # noqa: ASYNC110 - of another server
                await trio.sleep(0.005)


async def test_settings_that_cannot_be_read_are_read_later(served, database, monkeypatch):
    monkeypatch.setattr(live, "RETRY_SECONDS", 0.01)
    fetch, attempts = stored_settings.fetch, []

    async def fail_twice(q):
        attempts.append(q)
        if len(attempts) <= 2:
            raise StorageUnavailable("away")
        return await fetch(q)

    await stored_settings.save(database, {("map", "tiles"): TILES}, frozenset())
    monkeypatch.setattr(live.stored_settings, "fetch", fail_twice)
    await publish_changes(served.context.system, EverythingChanged())
    with trio.fail_after(PATIENCE):
        while served.context.settings.map.tiles != TILES:  # noqa: ASYNC110 - nobody says when
            await trio.sleep(0.005)
    assert len(attempts) >= 3
