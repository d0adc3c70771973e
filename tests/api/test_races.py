"""Parallel requests have the outcome of the same requests one after the other, in some order."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio

from motorpool.api.engine.examples import BODIES
from motorpool.storage.accounts import server, users
from motorpool.storage.devices import groups

CONNECTIONS = 8
"""Clients that send at once."""

Call = Callable[[], Awaitable[Any]]


async def in_parallel(*calls: Call) -> list[Any]:
    """Begin all calls at once; return their answers in the order of the calls."""
    answers: list[Any] = [None] * len(calls)

    async def answer(index: int, call: Call) -> None:
        answers[index] = await call()

    async with trio.open_nursery() as nursery:
        for index, call in enumerate(calls):
            nursery.start_soon(answer, index, call)
    return answers


async def connections(served: Any, email: str = "admin@example.org", password: str = "admin") -> list[Any]:
    """Clients of one user, each with a session of its own."""
    return [await served.log_in(email, password) for _ in range(CONNECTIONS)]


async def made(served: Any) -> dict[str, dict[str, Any]]:
    """Make a record of each family; return their paths and bodies."""

    async def make(family: str, body: Any) -> dict[str, Any]:
        answer = await served.admin.post(f"/{family}", json=body)
        assert answer.status == 200, answer.text
        assert answer.headers["ETag"] == '"1"'
        return {f"/{family}/{answer.json()['id']}": answer.json()}

    found = {"/server": (await served.admin.get("/server")).json()}
    for family, name in [
        ("users", "createUser"),
        ("groups", "createGroup"),
        ("calendars", "createCalendar"),
        ("devices", "createDevice"),
        ("geofences", "createGeofence"),
        ("drivers", "createDriver"),
        ("maintenance", "createMaintenance"),
        ("notifications", "createNotification"),
    ]:
        found |= await make(family, BODIES[name])
    found |= await make("orders", {"uniqueId": "1", "description": "Sand"})
    found |= await make("commands", {"type": "engineStop", "description": "Stop"})
    found |= await make("attributes/computed", {**BODIES["createComputedAttribute"], "priority": 1})
    steps = {"onStart": [{"commandId": 1}], "calendarId": 1}
    found |= await make("scheduledcommands", {"name": "At night", **steps})
    found |= await make("companies", {"name": "North"})
    company = {"companyId": 1, "name": "One"}
    for family in ("branches", "teams", "contacts", "ticketcategories"):
        found |= await make(family, company)
    found |= await make("ticketpriorities", {**company, "level": 1})
    return found | await make("ticketstatuses", {**company, "kind": "new"})


def with_number(body: dict[str, Any], number: int) -> dict[str, Any]:
    if "priority" in body:
        return {**body, "priority": number}
    return {**body, "attributes": {**body["attributes"], "number": number}}


def number_of(body: dict[str, Any]) -> int:
    return body["priority"] if "priority" in body else body["attributes"].get("number", 0)


def version_of(answer: Any) -> int:
    return int(answer.headers["ETag"].strip('"'))


async def test_parallel_updates_of_each_family_are_those_of_one_after_the_other(served):
    clients = await connections(served)
    for path, body in (await made(served)).items():
        first = version_of(await served.admin.get(path))
        sent = [with_number(body, 100 + number) for number in range(2 * CONNECTIONS)]
        answers = await in_parallel(
            *(partial(client.put, path, json=each) for client, each in zip(clients * 2, sent, strict=True))
        )
        assert [number_of(answer.json()) for answer in answers] == [number_of(each) for each in sent], path
        # Every version is the answer to one request, and the row is what the last one sent.
        versions = {version_of(answer): answer.json() for answer in answers}
        assert sorted(versions) == list(range(first + 1, first + 1 + len(sent))), path
        stored = await served.admin.get(path)
        assert version_of(stored) == max(versions), path
        assert number_of(stored.json()) == number_of(versions[max(versions)]), path


async def test_no_update_with_if_match_is_lost(served):
    clients = await connections(served)

    async def add_one(client: Any, path: str) -> None:
        """Add one as often as it takes until the record was not changed in between.

        A read after the commit of another update and before its announcement may return the old version, so
        one update of another may refuse several tries.
        """
        while True:
            read = await client.get(path)
            body = with_number(read.json(), number_of(read.json()) + 1)
            answer = await client.put(path, json=body, headers={"If-Match": read.headers["ETag"]})
            if answer.status == 200:
                return
            assert "was changed: it is at version" in answer.text, answer.text

    for path, body in (await made(served)).items():
        with trio.fail_after(120):
            await in_parallel(*(partial(add_one, client, path) for client in clients))
        assert number_of((await served.admin.get(path)).json()) == number_of(body) + CONNECTIONS, path


@pytest.mark.parametrize(
    ("field", "value"),
    [("readonly", True), ("userLimit", 0), ("fixedEmail", True), ("deviceLimit", 3), ("administrator", True)],
)
async def test_users_who_save_themselves_undo_nothing_that_an_administrator_changes(served, field, value):
    await served.user("ann", userLimit=5)
    clients = await connections(served, "ann@example.org", "ann")
    path = f"/users/{(await clients[0].get('/session')).json()['id']}"
    body = (await served.admin.get(path)).json()

    async def save(client: Any, number: int) -> None:
        for _ in range(3):
            await client.put(path, json={**body, "name": f"Ann {number}"})

    answers = await in_parallel(
        *(partial(save, client, number) for number, client in enumerate(clients)),
        partial(served.admin.put, path, json={**body, field: value}),
    )
    assert answers[-1].status == 200
    assert (await served.admin.get(path)).json()[field] == value


async def test_parallel_requests_keep_the_limit_of_devices(served):
    await served.user("ann", deviceLimit=3)
    clients = await connections(served, "ann@example.org", "ann")
    answers = await in_parallel(
        *(
            partial(client.post, "/devices", json={"name": f"{number}", "uniqueId": f"{number}"})
            for number, client in enumerate(clients)
        )
    )
    assert sorted(answer.status for answer in answers) == [200] * 3 + [400] * 5
    assert {answer.text for answer in answers if answer.status == 400} == {
        "the user's limit of devices is reached"
    }
    assert len((await clients[0].get("/devices")).json()) == 3


async def test_parallel_requests_keep_the_limit_of_users(served):
    await served.user("boss", userLimit=3)
    clients = await connections(served, "boss@example.org", "boss")
    answers = await in_parallel(
        *(
            partial(client.post, "/users", json={"email": f"{number}@example.org", "password": "secret-1"})
            for number, client in enumerate(clients)
        )
    )
    assert sorted(answer.status for answer in answers) == [200] * 3 + [400] * 5
    assert len((await clients[0].get("/users")).json()) == 3


@pytest.mark.parametrize("family", ["devices", "users"])
async def test_parallel_requests_of_all_below_a_manager_keep_the_managers_limit(served, family):
    """Of two levels, whose managers have limits too, and who would else wait for each other's rows."""
    boss = await served.user("boss", userLimit=7, deviceLimit=3)
    below = [await served.user(f"deputy{number}", userLimit=6, deviceLimit=6) for number in range(2)]
    low = [await served.user(f"low{number}", userLimit=5, deviceLimit=5) for number in range(2)]
    pairs = [*((boss, deputy) for deputy in below), *zip(below, low, strict=True)]
    for manager, user in pairs:
        link = {"userId": manager.id, "managedUserId": user.id}
        assert (await served.admin.post("/permissions", json=link)).status == 204
    # One more new password than are hashed and may wait would be told to try again.
    clients = ([boss, *(user for _, user in pairs)] * 2)[:9]

    def add(client: Any, number: int) -> Any:
        body = {"devices": {"name": "x", "uniqueId": f"{number}"}, "users": raw_user(number)}[family]
        return partial(client.post, f"/{family}", json=body)

    answers = await in_parallel(*(add(client, number) for number, client in enumerate(clients)))
    # Four of seven users are there already.
    assert sorted(answer.status for answer in answers) == [200] * 3 + [400] * 6
    assert all("limit" in answer.text for answer in answers if answer.status == 400)


def raw_user(number: int) -> dict[str, str]:
    return {"email": f"new{number}@example.org", "password": "secret words"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/devices", {"name": "Truck", "uniqueId": "7"}),
        ("/drivers", {"name": "Bob", "uniqueId": "7"}),
        ("/users", {"email": "new@example.org", "password": "secret-1"}),
    ],
)
async def test_of_parallel_requests_for_a_unique_value_one_gets_it(served, path, body):
    clients = await connections(served)
    answers = await in_parallel(*(partial(client.post, path, json=body) for client in clients))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7


async def test_of_parallel_changes_to_a_unique_value_one_gets_it(served):
    clients = await connections(served)
    numbers = [await served.device(served.admin, f"0{number}1") for number in range(1, CONNECTIONS + 1)]
    answers = await in_parallel(
        *(
            # The same number but for leading zeros, which terminals write as they like.
            partial(client.put, f"/devices/{number}", json={"name": "Truck", "uniqueId": "0" * index + "9"})
            for index, (client, number) in enumerate(zip(clients, numbers, strict=True))
        )
    )
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7


async def test_parallel_moves_of_groups_make_no_cycle(served):
    clients = await connections(served)
    ids = [
        (await served.admin.post("/groups", json={"name": f"{number}"})).json()["id"]
        for number in range(CONNECTIONS)
    ]
    for shift in (1, 2, 3, 5, 7):
        # Each below another: as a whole a cycle, or several.
        parents = [*ids[shift:], *ids[:shift]]
        answers = await in_parallel(
            *(
                partial(client.put, f"/groups/{number}", json={"name": f"{number}", "groupId": parent})
                for client, number, parent in zip(clients, ids, parents, strict=True)
            )
        )
        refused = {answer.text for answer in answers if answer.status != 200}
        assert refused == {"groupId: the group would lie below itself"}
        above = {group["id"]: group["groupId"] for group in (await served.admin.get("/groups")).json()}
        for number in ids:
            chain = [number]
            while above[chain[-1]]:
                chain.append(above[chain[-1]])
                assert len(chain) == len(set(chain)), above


async def administrators(served: Any) -> list[Any]:
    """Eight administrators: the first one and seven more."""
    more = [await served.user(f"admin{number}", administrator=True) for number in range(1, CONNECTIONS)]
    served.admin.id = served.admin_id
    return [served.admin, *more]


@pytest.mark.parametrize(
    "change",
    [{"administrator": False}, {"disabled": True}, {"expirationTime": "2026-05-02T00:00:00Z"}, None],
    ids=["demote", "disable", "expire", "delete"],
)
async def test_administrators_who_remove_one_another_leave_one(served, database, change):
    """Each removes the next one, all at once."""
    everybody = await administrators(served)
    calls = []
    for client, other in zip(everybody, [*everybody[1:], everybody[0]], strict=True):
        path = f"/users/{other.id}"
        body = (await served.admin.get(path)).json()
        calls.append(
            partial(client.delete, path)
            if change is None
            else partial(client.put, path, json={**body, **change})
        )
    answers = await in_parallel(*calls)
    left = await database.fetch(
        "select id from users where administrator and not disabled and expiration_time is null"
    )
    assert len(left) >= 1
    # Who was demoted before the own request was served has no access any more; the others are logged out.
    refusals = {
        "the last administrator can be neither deleted, disabled nor demoted, and has no expiration time",
        *(["no access to the user"] if change == {"administrator": False} else []),
    }
    assert {answer.text for answer in answers if answer.status == 400} <= refusals


async def test_two_transactions_never_take_the_last_two_administrators(served, database):
    other = await served.user("other", administrator=True)
    outcomes = []

    async def demote(user_id: int) -> None:
        async with database.transaction() as transaction:
            old = await users.TABLE.fetch(transaction, user_id, lock=True)
            last = await users.is_last_administrator(transaction, old, None, served.clock.now())
            outcomes.append(last)
            if not last:
                await users.TABLE.delete(transaction, user_id)

    await in_parallel(partial(demote, served.admin_id), partial(demote, other.id))
    assert sorted(outcomes) == [False, True]


async def test_parallel_shares_of_a_device_make_one_guest(served):
    number = await served.device(served.admin, "1")
    clients = await connections(served)
    form = {"deviceId": str(number), "expiration": "2026-06-01T00:00:00Z"}
    answers = await in_parallel(*(partial(client.post, "/share/device", form=form) for client in clients))
    assert [answer.status for answer in answers] == [200] * CONNECTIONS
    guests = [user for user in (await served.admin.get("/users")).json() if user["temporary"]]
    assert len(guests) == 1


async def test_settings_that_are_saved_in_parallel_are_served_as_they_are_stored(served, database):
    clients = await connections(served)
    body = (await served.admin.get("/server")).json()
    await in_parallel(
        *(
            partial(client.put, "/server", json={**body, "announcement": f"{number}"})
            for number, client in enumerate(clients)
        )
    )
    assert served.context.server == await server.fetch(database)
    assert (await served.client().get("/server")).json()["announcement"] == served.context.server.announcement


async def test_a_long_chain_of_groups_is_searched_to_its_end(database):
    rows = await database.fetch(
        "insert into groups (name) select n from generate_series(1, 150) n returning id"
    )
    ids = [row[0] for row in rows]
    await database.execute("update groups set group_id = id - 1 where id > $1", ids[0])
    async with database.transaction() as transaction:
        assert await groups.would_lie_below_itself(transaction, ids[0], ids[-1])
        assert not await groups.would_lie_below_itself(transaction, ids[-1], ids[0])
