"""Who becomes the first user (docs/users.md#the-first-user)."""

import pytest
import trio

from motorpool.api.logins.setup import HEADER, fetch_setup_token
from motorpool.api.settings import HttpSettings

FIRST = {"name": "Ann", "email": "ann@example.org", "password": "correct horse"}
EMPTY = "delete from users; update server set initialised = false"


async def register(served, user=FIRST, **headers):
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await served.client().post("/users", json=user, headers=sent)


@pytest.fixture
async def new(served, database):
    """A server as on its first start."""
    await database.execute(EMPTY)
    return served


@pytest.mark.parametrize(
    "headers",
    [
        # On the server's own machine too, where others may have accounts, or a proxy may listen.
        {},
        {"Host": "127.0.0.1:8082"},
        {"Host": "[::1]:80", "Origin": "http://[::1]:80"},
        {"X_Forwarded_For": "198.51.100.7"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"Via": "1.1 proxy"},
        {HEADER: ""},
        {HEADER: "guess"},
        {HEADER: "\xe9"},
    ],
)
async def test_nobody_becomes_administrator_without_the_token(new, headers):
    refused = await register(new, **headers)
    assert (refused.status, "set-up token" in refused.text) == (400, True)
    assert await new.context.database.fetch_value("select count(*) from users") == 0
    # The refusals have not used up the rule.
    assert (await new.client().get("/server")).json()["newServer"] is True
    made = await register(new, **{**headers, HEADER: new.context.logins.setup_token})
    assert (made.status, made.json()["administrator"]) == (200, True)
    again = await register(
        new, {**FIRST, "email": "eve@example.org"}, **{**headers, HEADER: new.context.logins.setup_token}
    )
    assert (again.status, again.text) == (400, "registration is not open")


async def test_a_trusted_proxy_that_names_this_machine_does_not_replace_the_token(starting, database):
    async with starting(http=HttpSettings(trusted_proxies=("127.0.0.0/8",))) as served:
        await database.execute(EMPTY)
        assert (await register(served, X_Forwarded_For="127.0.0.1")).status == 400


async def test_open_registration_makes_no_first_user_without_the_token(new):
    await new.context.database.execute("update server set registration = true")
    assert (await register(new)).status == 400


async def test_of_parallel_first_users_one_becomes_administrator(new):
    answers = []

    async def first(number):
        user = {**FIRST, "email": f"u{number}@example.org"}
        answers.append(await register(new, user, **{HEADER: new.context.logins.setup_token}))

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(first, number)
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    (made,) = [answer.json() for answer in answers if answer.status == 200]
    assert made["administrator"] is True


async def test_the_token_is_the_same_for_every_server_on_the_database(database):
    token = await fetch_setup_token(database)
    assert len(token) >= 22
    assert await fetch_setup_token(database) == token
