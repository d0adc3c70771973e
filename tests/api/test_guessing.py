"""Guessing passwords and one-time codes, and locking others out by it (docs/authentication.md#guessing)."""

import base64

import pyotp
import pytest
import trio

from motorpool.api.login_settings import LoginSettings
from motorpool.api.settings import ClusterSettings, HttpSettings

BEHIND = HttpSettings(trusted_proxies=("127.0.0.0/8",))
LOGIN = LoginSettings(hash_memory_kib=64, hash_rounds=1, failures_per_account=3, failures_per_address=6)
HOME, OFFICE, STRANGER = "203.0.113.7", "203.0.113.8", "198.51.100.{}"
DAY = 86400


@pytest.fixture
async def limited(starting):
    async with starting(http=BEHIND, login=LOGIN) as served:
        yield served


def coming_from(address, **more):
    return {"X-Forwarded-For": address, **more}


def basic(address, password, email="ann@example.org"):
    text = base64.b64encode(f"{email}:{password}".encode()).decode()
    return coming_from(address, Authorization=f"Basic {text}")


async def log_in(client, address, password, email="ann@example.org", **more):
    form = {"email": email, "password": password, **more}
    return (await client.post("/session", form=form, headers=coming_from(address))).status


async def make(served, name="ann", **fields):
    """Make a user who has not logged in anywhere yet."""
    user = {"name": name, "email": f"{name}@example.org", "password": name, **fields}
    answer = await served.admin.post("/users", json=user)
    assert answer.status == 200, answer.text
    return answer.json()["id"]


async def lock(served, email="ann@example.org"):
    """Fail from as many addresses as it takes to lock the account for unknown places."""
    for number in range(3):
        assert await log_in(served.client(), STRANGER.format(number), "guess", email) == 401
    assert await log_in(served.client(), STRANGER.format(9), "guess", email) == 429


async def rows(database, action):
    found = await database.fetch("select * from audit where action_type = $1 order by id", action)
    return [dict(row.items()) for row in found]


async def test_the_right_password_does_not_open_a_locked_account_from_an_unknown_place(limited):
    await make(limited)
    await lock(limited)
    assert await log_in(limited.client(), HOME, "ann") == 429
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 429


async def test_a_password_that_was_verified_before_is_no_way_around_the_limit(limited):
    await make(limited)
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200
    await lock(limited)
    for _ in range(3):
        assert (await limited.client().get("/devices", headers=basic(OFFICE, "ann"))).status == 429
    assert await log_in(limited.client(), OFFICE, "ann") == 429


async def test_strangers_do_not_lock_out_a_user_at_a_known_address(limited):
    await make(limited)
    assert await log_in(limited.client(), HOME, "ann") == 200
    await lock(limited)
    assert await log_in(limited.client(), HOME, "ann") == 200
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200
    # Others who fail at the same address at other accounts do not lock it either.
    for number in range(7):
        await log_in(limited.client(), HOME, "guess", f"nobody{number}@example.org")
    assert await log_in(limited.client(), HOME, "guess", "nobody@example.org") == 429
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200


async def test_an_address_is_known_for_thirty_days_after_the_last_login_there(limited):
    await make(limited)
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200
    limited.clock.move_wall(29 * DAY)
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200
    limited.clock.move_wall(29 * DAY)
    await lock(limited)
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 200
    limited.clock.move_wall(31 * DAY)
    assert (await limited.client().get("/devices", headers=basic(HOME, "ann"))).status == 429


async def test_an_ipv6_address_is_known_by_its_network(limited):
    await make(limited)
    assert await log_in(limited.client(), "2001:db8:1:2:aaaa::1", "ann") == 200
    await lock(limited)
    assert await log_in(limited.client(), "2001:db8:1:2:bbbb::9", "ann") == 200
    assert await log_in(limited.client(), "2001:db8:1:3:aaaa::1", "ann") == 429


async def test_a_known_device_is_not_locked_out_wherever_it_is(limited):
    await make(limited)
    phone = limited.client()
    answer = await phone.post(
        "/session", form={"email": "ann@example.org", "password": "ann"}, headers=coming_from(HOME)
    )
    (cookie,) = [each for each in answer.headers.getlist("Set-Cookie") if each.startswith("motorpool_device")]
    assert "HttpOnly" in cookie
    assert "Max-Age=15552000" in cookie
    assert "Path=/api/session" in cookie
    await lock(limited)
    assert await log_in(phone, OFFICE, "ann") == 200
    limited.clock.move_wall(179 * DAY)
    assert await log_in(phone, "192.0.2.1", "ann") == 200
    limited.clock.move_wall(181 * DAY)
    assert await log_in(phone, "192.0.2.2", "ann") == 429


async def test_a_device_is_known_to_those_who_logged_in_with_it_and_to_nobody_else(limited):
    for name in ("ann", "ben", "eve"):
        await make(limited, name)
    shared, eves = limited.client(), limited.client()
    assert await log_in(shared, HOME, "ann") == 200
    assert await log_in(shared, HOME, "ben", "ben@example.org") == 200
    assert await log_in(eves, OFFICE, "eve", "eve@example.org") == 200
    await lock(limited)
    limited.context.logins.throttle._buckets["address"].clear()
    await lock(limited, "ben@example.org")
    assert await log_in(eves, OFFICE, "ann") == 429
    assert await log_in(shared, "192.0.2.1", "ann") == 200
    assert await log_in(shared, "192.0.2.1", "ben", "ben@example.org") == 200
    forged = limited.client({"Cookie": "motorpool_device=forged"})
    assert await log_in(forged, OFFICE, "ann") == 429


async def test_guesses_from_a_known_place_are_limited_there(limited):
    await make(limited)
    phone = limited.client()
    assert await log_in(phone, HOME, "ann") == 200
    for _ in range(3):
        assert await log_in(phone, HOME, "guess") == 401
    assert await log_in(phone, HOME, "ann") == 429
    # Another device at the same address counts by itself, and strangers still have their own count.
    assert await log_in(limited.client(), HOME, "ann") == 200
    assert await log_in(limited.client(), OFFICE, "ann") == 200


async def test_a_new_password_makes_every_place_a_stranger_but_the_one_that_set_it(limited):
    number = await make(limited)
    phone, thief = limited.client(), limited.client()
    assert await log_in(thief, OFFICE, "ann") == 200
    assert await log_in(phone, HOME, "ann") == 200
    limited.clock.move_wall(1)
    me = (await phone.get("/session", headers=coming_from(HOME))).json()
    changed = await phone.put(f"/users/{number}", json={**me, "password": "new"}, headers=coming_from(HOME))
    assert changed.status == 200
    await lock(limited)
    assert await log_in(thief, OFFICE, "new") == 429
    assert await log_in(limited.client(), HOME, "new") == 200


async def test_passwords_and_one_time_codes_are_counted_apart(limited):
    secret = pyotp.random_base32()
    number = await make(limited, totpKey=secret)
    # A name that looks like the key under which codes are counted locks nobody.
    for place in range(3):
        await log_in(limited.client(), STRANGER.format(place), "guess", f"code of {number}")
    for place in range(3):
        assert await log_in(limited.client(), STRANGER.format(10 + place), "ann", code="000000") == 401
    assert await log_in(limited.client(), STRANGER.format(20), "ann", code="000000") == 429
    code = pyotp.TOTP(secret).at(limited.clock.now())
    # Locked for codes, from here too; the password is still looked at.
    assert await log_in(limited.client(), HOME, "ann", code=code) == 429
    assert await log_in(limited.client(), HOME, "ann") == 401


async def test_parallel_guesses_from_many_addresses_are_limited(limited):
    await make(limited)
    statuses = []

    async def guess(number):
        statuses.append(await log_in(limited.client(), STRANGER.format(number), "guess"))

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(guess, number)
    assert (statuses.count(401), statuses.count(429)) == (3, 27)


async def test_a_lock_out_is_one_row_and_names_the_account(limited, database):
    number = await make(limited)
    await lock(limited)
    for place in range(20):
        assert await log_in(limited.client(), STRANGER.format(30 + place), "guess") == 429
        assert (await limited.client().get("/users", headers=basic(HOME, "ann"))).status == 429
    (locked,) = await rows(database, "locked")
    assert (locked["object_type"], locked["object_id"], locked["user_id"]) == ("user", number, 0)
    attributes = {"method": "form", "account": "ann@example.org", "limit": "account", "seconds": 300}
    assert locked["attributes"] == attributes
    denied = await rows(database, "denied")
    assert [row["attributes"] for row in denied] == [{"method": "form", "account": "ann@example.org"}] * 3


async def test_failed_basic_is_audited_and_what_is_no_address_is_not_written(limited, database):
    await make(limited)
    await limited.client().get("/devices", headers=basic(HOME, "s3cret-guess"))
    await limited.client().get("/devices", headers=basic(HOME, "x", "correct horse battery"))
    await limited.client().get("/devices", headers=basic(HOME, "x", "nobody@example.org"))
    denied = await rows(database, "denied")
    assert [row["attributes"] for row in denied] == [
        {"method": "basic", "account": "ann@example.org"},
        {"method": "basic"},
        {"method": "basic", "account": "nobody@example.org"},
    ]
    assert denied[0]["address"] == HOME
    assert "s3cret" not in str(denied)


async def test_rows_of_failed_logins_are_bounded_and_the_rest_is_counted(starting, database):
    plenty = LoginSettings(
        hash_memory_kib=64, hash_rounds=1, failures_per_account=1000, failures_per_address=1000
    )
    async with starting(http=BEHIND, login=plenty) as served:
        for number in range(80):
            await served.client().get("/devices", headers=basic(HOME, "x", f"{number}@example.org"))
        assert len(await rows(database, "denied")) == 60
        await served.client().get("/devices", headers=basic(OFFICE, "x", "last@example.org"))
        last = (await rows(database, "denied"))[-1]
        assert last["attributes"] == {"method": "basic", "account": "last@example.org", "unrecorded": 20}


async def test_networks_of_a_user_are_bounded_and_go_with_the_user(limited, database):
    number = await make(limited)
    for place in range(105):
        headers = basic(f"192.0.2.{place}", "ann")
        assert (await limited.client().get("/devices", headers=headers)).status == 200
        limited.clock.move_wall(1)
    networks = await database.fetch("select network from known_addresses where user_id = $1", number)
    assert len(networks) == 100
    assert "192.0.2.4" not in {row["network"] for row in networks}
    await limited.admin.delete(f"/users/{number}")
    assert await database.fetch_value("select count(*) from known_addresses where user_id = $1", number) == 0


async def test_failures_at_another_server_of_the_cluster_count(starting, database):
    async with starting(http=BEHIND, login=LOGIN, cluster=ClusterSettings(name="north")) as served:
        ann = await make(served)
        assert await log_in(served.client(), STRANGER.format(1), "guess") == 401
        assert await log_in(served.client(), HOME, "ann") == 200
        assert await database.fetch("select kind, key, cardinality(times) from counted_attempts") != []
        # As another server counts them, which has seen two.
        await database.execute(
            "update counted_attempts set times = times || times[1] || times[1] where key = $1", f"{ann} "
        )
        assert await log_in(served.client(), STRANGER.format(2), "ann") == 429
        assert await log_in(served.client(), HOME, "ann") == 200
        (row,) = await rows(database, "locked")
        assert row["attributes"]["limit"] == "account"
