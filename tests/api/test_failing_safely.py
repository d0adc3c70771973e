"""A check that fails by an error of its own permits nothing: neither an answer nor a change."""

import base64
import re

import pytest

from motorpool.actors.messages.access import GetVisible, MaySee
from motorpool.api.auth.rights import Right
from motorpool.api.engine.examples import BODIES
from motorpool.api.resources import OPERATIONS
from motorpool.runtime import ActorFailed, Ref

SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
UNWATCHED = ("nodes", "duties", "heartbeats", "statistics", "statistics_users", "audit", "stream_marks")
"""Tables that change by themselves, or with each request."""
CALLS = [each for each in OPERATIONS if each.name not in ("delete_session", "impersonate")]
"""Without those that end one's own session and open another one for oneself, which take no right."""


async def contents(database):
    """A digest of each table."""
    tables = await database.fetch(
        "select relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace"
        " and not relispartition"
    )
    digest = "select md5(string_agg(t::text, '' order by t::text)) from"
    return {
        name: await database.fetch_value(f'{digest} "{name}" t')
        for name in (row["relname"] for row in tables)
        if name not in UNWATCHED
    }


async def ask(client, operation, number):
    """Send a request for an operation, with what it may take for a path, a query and a body."""
    words = {"path": "x", "file": "x", "uniqueId": "1", "type": "xlsx", "channel": "1"}
    path = re.sub(r"\{(\w+)\}", lambda found: words.get(found[1], str(number)), operation.plain_path)
    if operation.method in ("GET", "DELETE"):
        return await client.call(operation.method, f"/api{path}?{SPAN}&deviceId={number}&channel=1")
    if operation.form is not None:
        return await client.call(operation.method, f"/api{path}", form={"deviceId": str(number)})
    body = BODIES.get(operation.name, {"id": number, "deviceId": number, "name": "x", "uniqueId": "1"})
    return await client.call(operation.method, f"/api{path}", json=body)


@pytest.fixture
async def ann(served):
    """A user with a vehicle, `ann.van`, and `ann.ways` to say who she is."""
    client = await served.user("ann", deviceLimit=-1)
    client.van = await served.device(client, "1")
    client.ways = {
        "cookie": {"Cookie": f"JSESSIONID={served.cookie(client)}"},
        "token": {"Authorization": f"Bearer {(await client.post('/session/token')).text}"},
        "password": {"Authorization": "Basic " + base64.b64encode(b"ann@example.org:ann").decode()},
    }
    return client


@pytest.mark.parametrize(
    ("way", "table"),
    [
        ("cookie", "sessions"),
        ("cookie", "users"),
        ("token", "revoked_tokens"),
        ("token", "users"),
        ("password", "users"),
    ],
)
async def test_who_cannot_be_identified_is_answered_nothing(served, ann, database, way, table):
    client = served.client(ann.ways[way])
    assert (await client.get("/devices")).status == 200
    await database.execute(f"alter table {table} rename to {table}_away")
    served.context.logins.accounts.clear()
    for operation in CALLS:
        if not operation.public:
            answer = await ask(client, operation, ann.van)
            assert answer.status in (500, 503), f"{operation.method} {operation.path}: {answer.text}"


async def test_a_right_that_cannot_be_checked_is_not_had(served, ann, database, monkeypatch):
    def broken(*_):
        raise RuntimeError("secret of the server")

    monkeypatch.setattr(Right, "require", broken)
    before = await contents(database)
    refused = 0
    for client in (ann, served.admin):
        for operation in CALLS:
            answer = await ask(client, operation, ann.van)
            refused += answer.status == 500
            assert "secret of the server" not in answer.text
    assert refused > len(CALLS)
    assert await contents(database) == before


OF_A_DEVICE = """
    GET /devices/{van}
    PUT /devices/{van}/accumulators
    POST /devices/{van}/image
    GET /devices/{van}/binding
    GET /positions?deviceId={van}&{span}
    DELETE /positions?deviceId={van}&{span}
    GET /positions/csv?deviceId={van}&{span}
    GET /events?deviceId={van}&{span}
    GET /reports/route?deviceId={van}&{span}
    GET /reports/trips?deviceId={van}&{span}
    GET /commands/types?deviceId={van}
    GET /commands/queue?deviceId={van}
    POST /commands/send
    GET /stream/{van}/1/live.m3u8
    GET /stream/{van}/1/snapshot.jpg
    GET /recordings/{van}?channel=1&{span}
    GET /captures?deviceId={van}
    POST /captures?deviceId={van}&channel=1&{span}
    GET /playbacks?deviceId={van}
    GET /media/1/x.jpg
"""
"""What asks who sees the device; other operations look at its links in their statements."""


async def test_access_that_cannot_be_checked_is_not_had(ann, database, monkeypatch):
    known = Ref.ask

    async def broken(self, request, seconds=5.0):
        if isinstance(request, GetVisible | MaySee):
            raise ActorFailed("access")
        return await known(self, request, seconds)

    monkeypatch.setattr(Ref, "ask", broken)
    before = await contents(database)
    for line in OF_A_DEVICE.strip().splitlines():
        method, path = line.format(van=ann.van, span=SPAN).split()
        body = {"json": {"deviceId": ann.van, "type": "engineStop"}} if method in ("POST", "PUT") else {}
        answer = await ann.call(method, f"/api{path}", **body)
        assert answer.status == 503, line
    assert await contents(database) == before


async def test_what_cannot_be_audited_is_not_done(served, ann, database):
    before = await contents(database)
    await database.execute("alter table audit rename to audit_away")
    for operation in CALLS:
        if operation.method != "GET":
            answer = await ask(served.admin, operation, ann.van)
            assert answer.status >= 400 or operation.name == "create_totp_secret", operation.name
    await database.execute("alter table audit_away rename to audit")
    assert await contents(database) == before
