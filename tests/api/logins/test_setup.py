"""Who becomes the first user (docs/users.md#the-first-user)."""

import pytest
import trio

from motorpool.api.logins.setup import HEADER, fetch_setup_token
from motorpool.api.settings import HttpSettings

FIRST = {"name": "Ann", "email": "ann@example.org", "password": "correct horse"}
BEHIND = HttpSettings(trusted_proxies=("127.0.0.0/8",))


async def register(served, user=FIRST, **headers):
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await served.client().post("/users", json=user, headers=sent)


@pytest.fixture
async def new(served, database):
    """A server as on its first start."""
    await database.execute("delete from users")
    await database.execute("update server set initialised = false")
    return served


@pytest.mark.parametrize(
    "headers",
    [
        # Through a proxy on this machine that is not named in the settings, whatever it says of the client.
        {"X_Forwarded_For": "198.51.100.7"},
        {"X_Forwarded_For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"X_Real_IP": "127.0.0.1"},
        # By a proxy that passes on the name, or by a page whose name resolves to this machine.
        {"Host": "fleet.example.org"},
        {"Host": "evil.example.org:8082"},
        {"Host": "192.0.2.1", HEADER: "guess"},
        {"Host": "192.0.2.1", HEADER: ""},
    ],
)
async def test_from_elsewhere_nobody_becomes_administrator_without_the_token(new, headers):
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


@pytest.mark.parametrize(
    "headers", [{}, {"Host": "127.0.0.1:8082"}, {"Host": "[::1]:80", "Origin": "http://[::1]:80"}]
)
async def test_on_this_machine_the_first_user_becomes_administrator(new, headers):
    made = await register(new, **headers)
    assert (made.status, made.json()["administrator"]) == (200, True)


async def test_behind_a_trusted_proxy_the_clients_own_address_counts(starting, database):
    async with starting(http=BEHIND) as served:
        await database.execute("delete from users")
        await database.execute("update server set initialised = false")
        assert (await register(served, X_Forwarded_For="198.51.100.7")).status == 400
        assert (await register(served, X_Forwarded_For="127.0.0.1, 198.51.100.7")).status == 400
        assert (await register(served, X_Forwarded_For="127.0.0.1")).status == 200


async def test_open_registration_makes_no_first_user_elsewhere(new):
    await new.context.database.execute("update server set registration = true")
    assert (await register(new, X_Forwarded_For="198.51.100.7")).status == 400


async def test_of_parallel_first_users_one_becomes_administrator(new):
    answers = []

    async def first(number):
        user = {**FIRST, "email": f"u{number}@example.org"}
        answers.append(await register(new, user, **{HEADER: new.context.logins.setup_token}))

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(first, number)
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7


async def test_the_token_is_the_same_for_every_server_on_the_database(database):
    token = await fetch_setup_token(database)
    assert len(token) >= 22
    assert await fetch_setup_token(database) == token
