"""Random trees of users, who try every door by which users give each other something, against the oracle."""

import itertools
import random
from datetime import timedelta
from typing import Any

import pytest
from tests.api.granting.doors import DOORS, EXPIRATIONS, REFERENCES, Draw
from tests.api.granting.oracle import FLAGS, PLAIN, Actor, Guest, Person, Standing, Tree, raised

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import DeviceChanged, GroupChanged, LinkChanged
from motorpool.api.auth.tokens import SESSION, issue
from motorpool.api.login_settings import ShareSettings, UserSettings

TREES = 20
TREES_AT_LENGTH = 1250
"""For each of eight seeds: 10,000."""
TRIES = 30
"""Requests in each tree."""
USERS = """
    insert into users (name, email, readonly, device_readonly, limit_commands, disable_reports, fixed_email,
        expiration_time, device_limit, user_limit)
    values ('somebody', $1, $2, $3, $4, $5, $6, $7, $8, $9) returning id
"""
GROUP = "insert into groups (name, group_id) values ('group', nullif($1, 0)) returning id"
DEVICE = "insert into devices (name, unique_id, group_id) values ($1, $1, nullif($2, 0)) returning id"
CALENDAR = "(select id from calendars order by id limit 1)"
OBJECTS = {
    "geofence": "geofences (name, area) values ('x', 'CIRCLE (1 1, 100)')",
    "command": "commands (description, type) values ('x', 'custom')",
    "calendar": "calendars (name) values ('x')",
    "notification": "notifications (type) values ('alarm')",
    "driver": "drivers (name, unique_id) values ('x', gen_random_uuid()::text)",
    "maintenance": "maintenance (name) values ('x')",
    "order": "orders (unique_id) values (gen_random_uuid()::text)",
    "attribute": "computed_attributes (description, type) values ('x', 'number')",
    "scheduledCommand": f"scheduled_commands (name, calendar_id) values ('x', {CALENDAR})",
    "report": f"scheduled_reports (type, calendar_id) values ('events', {CALENDAR})",
}
"""What is inserted for each plain kind; those with a calendar come after it."""


class Play:
    """A server on which one tree after the other is made and tried."""

    def __init__(self, served: Any) -> None:
        self.served = served
        self.database = served.context.database
        self.numbers = itertools.count(1)
        self.settings: dict[str, Any] = {}

    def new_name(self) -> str:
        return f"n{next(self.numbers)}"

    async def grow(self, chance: random.Random) -> Tree:
        """Make at least six users on three levels as administrators may, with objects and links."""
        tree = Tree()
        await self._set_server(tree, chance)
        facts: list[Any] = []
        async with self.database.transaction() as transaction:
            levels = [2, chance.choice((2, 3)), chance.choice((2, 3))]
            by_level = [
                [await self._person(transaction, chance, tree, level) for _ in range(count)]
                for level, count in enumerate(levels)
            ]
            for upper, lower in itertools.pairwise(by_level):
                for user in lower:
                    tree.manages.add((chance.choice(upper), user))
            everybody = [*tree.people]
            for _ in range(chance.choice((0, 1, 2))):
                # Whatever administrators link, also two who manage each other.
                boss, user = chance.sample(everybody, 2)
                tree.manages.add((boss, user))
            above = 0
            for _ in range(5):
                # A chain, longer than a link reaches, and sometimes a second one.
                number = await transaction.fetch_value(GROUP, above)
                tree.parent[number] = above
                above = number if chance.random() < 0.85 else 0
                facts.append(GroupChanged(number, "created"))
            for _ in range(5):
                group, name = chance.choice((0, *tree.parent)), self.new_name()
                number = await transaction.fetch_value(DEVICE, name, group)
                tree.group_of[number], tree.unique_ids[number] = group, name
                facts.append(DeviceChanged(number, "created"))
            for kind, row in OBJECTS.items():
                made = [
                    await transaction.fetch_value(f"insert into {row} returning id")
                    for _ in range(2 if kind in REFERRED else 1)
                ]
                tree.plain[kind] = {(chance.choice(everybody), number) for number in made}
            for _ in range(2):
                number = await transaction.fetch_value(
                    "insert into companies (name) values ('x') returning id"
                )
                made, *members = chance.sample(everybody, 3)
                tree.companies |= {
                    (made, number): True,
                    **dict.fromkeys(((each, number) for each in members), False),
                }
            sql = "insert into user_company select * from unnest($1::bigint[], $2::bigint[], $3::boolean[])"
            columns = zip(*((*pair, made) for pair, made in tree.companies.items()), strict=True)
            await transaction.execute(sql, *map(list, columns))
            for user in everybody:
                tree.devices |= {(user, each) for each in tree.group_of if chance.random() < 0.15}
                tree.groups |= {(user, each) for each in tree.parent if chance.random() < 0.15}
            for kind, table in TABLES.items():
                pairs = sorted(tree.links(kind))
                sql = f"insert into {table} select * from unnest($1::bigint[], $2::bigint[])"
                await transaction.execute(sql, [each[0] for each in pairs], [each[1] for each in pairs])
                facts += [LinkChanged("user", owner, kind, number) for owner, number in pairs]
        await publish_changes(self.served.context.system, *facts)
        return tree

    async def _person(self, transaction: Any, chance: random.Random, tree: Tree, level: int) -> int:
        email = f"{self.new_name()}@example.org"
        flags = {flag for flag in FLAGS if chance.random() < (0.12 if flag == "readonly" else 0.25)}
        expires = chance.choice(EXPIRATIONS) if chance.random() < 0.5 else None
        device_limit = chance.choice((-1, -1, -1, 0, 2, 4, 6))
        # Who is above others is a manager, as are some at the bottom.
        user_limit = chance.choice((-1, -1, 2, 4, 7)) if level < 2 else chance.choice((0, 0, 3))
        number = await transaction.fetch_value(
            USERS, email, *(flag in flags for flag in FLAGS), expires, device_limit, user_limit
        )
        tree.people[number] = Person(number, email, flags, expires, device_limit, user_limit)
        return int(number)

    async def _set_server(self, tree: Tree, chance: random.Random) -> None:
        if not self.settings or chance.random() < 0.3:
            self.settings = {flag: chance.random() < 0.12 for flag in FLAGS}
            self.settings["forceSettings"] = chance.random() < 0.4
            self.settings["registration"] = chance.random() < 0.3
            stored = (await self.served.admin.get("/server")).json()
            answer = await self.served.admin.put("/server", json={**stored, **self.settings})
            assert answer.status == 200, answer.text
        tree.defaults = frozenset(flag for flag in FLAGS if self.settings[flag])
        tree.forced, tree.registration = self.settings["forceSettings"], self.settings["registration"]

    def log_in(self, user: int) -> Any:
        """A client with a token, made without a request."""
        now = self.served.clock.now()
        keys = self.served.context.logins.token_keys
        text, _ = issue(keys, user, SESSION, now + timedelta(days=90), now=now)
        return self.served.client({"Authorization": f"Bearer {text}"})

    async def attempt(self, chance: random.Random, tree: Tree, clients: dict[Actor, Any]) -> str:
        """Have somebody try a door; return what was wrong with the outcome."""
        actor = chance.choice(possible(tree, clients))
        if actor not in clients:
            clients[actor] = self.log_in(actor.user)
        name = chance.choices([*DOORS], [weight for weight, _ in DOORS.values()])[0]
        request = DOORS[name][1](Draw(chance, tree, actor, self.new_name))
        sent = request.sent if "form" in request.sent else {"json": request.sent} if request.sent else {}
        client = clients[actor] if request.token is None else self.served.client(_bearer(request.token))
        is_session = request.opens is not None and request.method == "GET"
        if is_session and client.headers:
            # The header stays with the client, since it goes before the cookie that comes.
            sent, client = {"headers": client.headers}, self.served.client()
        answer = await client.call(request.method, f"/api{request.path}", **sent)
        described = f"{name} by {actor}: {request.method} {request.path} {request.sent}"
        if (answer.status < 300) is not request.allowed:
            return f"{described}\nanswered {answer.status} {answer.text}, allowed: {request.allowed}"
        if not request.allowed:
            return "" if answer.status in {400, 401, 403, 404} else f"{described}\nanswered {answer.status}"
        if request.shows is not None:
            shown = {each["id"] for each in answer.json()}
            return "" if shown == request.shows else f"{described}\nshows {shown}, not {request.shows}"
        before = Standing.of(tree)
        request.follow(answer.json() if answer.body[:1] == b"{" else answer.text)
        for each in [each for each in clients if request.ends.intersection(each)]:
            del clients[each]
        if is_session:
            if client is clients[actor]:
                # The cookie was replaced, and its session ended.
                del clients[actor]
            clients[request.opens] = client
        elif request.opens is not None:
            clients[request.opens] = await self._by_token(chance, answer.text)
        found = [] if request.is_registration else raised(tree, actor, before)
        return f"{described}\n{found}" if found else ""

    async def _by_token(self, chance: random.Random, token: str) -> Any:
        """Return a client that sends a token, or has a session that was opened with it."""
        if chance.random() < 0.5:
            return self.served.client(_bearer(token))
        client = self.served.client()
        answer = await client.post("/session/token/login", form={"token": token})
        assert answer.status == 200, answer.text
        return client

    async def compare(self, tree: Tree) -> list[str]:
        """Return how what is stored differs from the tree."""
        wrong = []
        numbers = [*tree.people]
        columns = "readonly, device_readonly, limit_commands, disable_reports, fixed_email"
        rows = await self.database.fetch(
            "select id, email, disabled, expiration_time, device_limit, user_limit, administrator,"
            f" attributes, {columns} from users where id = any($1::bigint[])",
            numbers,
        )
        stored = {}
        for row in rows:
            flags = {flag for flag, value in zip(FLAGS, [*row.values()][-5:], strict=True) if value}
            person = Person(row[0], row[1], flags, row[3], row[4], row[5], row[2], row[7])
            stored[person.id] = person
            wrong += [f"{person.id} is administrator"] if row[6] else []
        wrong += [
            f"{tree.people[n]} is stored as {stored.get(n)}"
            for n in numbers
            if stored.get(n) != tree.people[n]
        ]
        for kind, table in TABLES.items():
            rows = await self.database.fetch(
                f"select * from {table} where user_id = any($1::bigint[])", numbers
            )
            if {(row[0], row[1]) for row in rows} != tree.links(kind):
                wrong.append(
                    f"links {kind}: {sorted(tree.links(kind))} are {sorted((r[0], r[1]) for r in rows)}"
                )
        sql = "select user_id, company_id from user_company where user_id = any($1::bigint[])"
        found = {(row[0], row[1]) for row in await self.database.fetch(sql, numbers)}
        if found != {*tree.companies}:
            wrong.append(f"members of companies {sorted(tree.companies)} are {sorted(found)}")
        rows = await self.database.fetch(
            f"select email, expiration_time, {columns} from users"
            " where temporary and email = any($1::text[])",
            [*tree.guests],
        )
        guests = {
            row[0]: Guest(
                frozenset(flag for flag, on in zip(FLAGS, [*row.values()][2:], strict=True) if on), row[1]
            )
            for row in rows
        }
        if guests != tree.guests:
            wrong.append(f"guests {tree.guests} are {guests}")
        return wrong


TABLES = {
    "managedUser": "user_user",
    "device": "user_device",
    "group": "user_group",
    **{kind: f"user_{kind}" for kind in PLAIN},
    "scheduledCommand": "user_scheduled_command",
}
REFERRED = {kind for pair in REFERENCES for kind in pair[:2]}


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def possible(tree: Tree, clients: dict[Actor, Any]) -> list[Actor]:
    """Who can send a request: everybody, and who has begun to act as somebody."""
    own = [Actor(number) for number, person in tree.people.items() if not person.disabled]
    acting = [
        each
        for each in clients
        if each.by
        and not tree.people[each.user].disabled
        and not tree.people[each.by].disabled
        and tree.manages_directly(each.by, each.user)
    ]
    return own + acting * 2


@pytest.mark.timeout(3600)
async def test_nobody_gives_what_they_lack_by_any_door(starting, at_length, seed):
    many = UserSettings(registrations_per_address=1_000_000)
    async with starting(share=ShareSettings(commands=True, reports=True), users=many) as served:
        play = Play(served)
        for number in range(TREES_AT_LENGTH if at_length else TREES):
            chance = random.Random(f"{seed} {number}")
            tree, clients = await play.grow(chance), {}
            for _ in range(TRIES):
                wrong = await play.attempt(chance, tree, clients)
                assert not wrong, f"tree {number} of seed {seed}: {wrong}\n{tree}"
            wrong = await play.compare(tree)
            assert not wrong, f"tree {number} of seed {seed}: {wrong}\n{tree}"


def test_the_oracle_is_not_blind():
    """Each kind of what users can be given is noticed if it is given by somebody who lacks it."""
    soon, late = EXPIRATIONS[1], EXPIRATIONS[2]
    boss = Person(1, "boss", {"limitCommands"}, soon, 0, 5)
    user = Person(2, "user", {*FLAGS}, soon, 0, 0)
    tree = Tree(people={1: boss, 2: user}, manages={(1, 2)}, parent={10: 0, 11: 10}, group_of={20: 11, 21: 0})
    tree.groups |= {(1, 10)}

    def after(change: Any) -> list[str]:
        before = Standing.of(tree)
        undo = change()
        found = raised(tree, Actor(1), before)
        undo()
        return found

    def setting(name: str, value: Any) -> Any:
        def change() -> Any:
            had = getattr(user, name)
            setattr(user, name, value)
            return lambda: setattr(user, name, had)

        return change

    def linking(links: set[tuple[int, int]], pair: tuple[int, int]) -> Any:
        def change() -> Any:
            links.add(pair)
            return lambda: links.discard(pair)

        return change

    freed = {*FLAGS} - {"limitCommands"}
    assert after(setting("flags", {"limitCommands"})) == []
    assert after(setting("flags", freed))
    assert after(setting("expires", late))
    assert after(setting("expires", None))
    assert after(setting("device_limit", 1))
    assert after(setting("user_limit", -1))
    assert after(linking(tree.groups, (2, 11))) == []
    assert after(linking(tree.devices, (2, 20))) == []
    assert after(linking(tree.devices, (2, 21)))
    assert after(linking(tree.manages, (2, 1)))
    tree.plain["command"] |= {(1, 30), (3, 31)}
    assert after(linking(tree.plain["command"], (2, 30))) == []
    assert after(linking(tree.plain["command"], (2, 31)))
