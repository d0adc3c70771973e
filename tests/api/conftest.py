"""A running server without device ports: real tables, real actors, and clients of its application."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from tests.runtime.actor_testing import TestClock
from werkzeug.routing import Map

from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.devices import far_device
from motorpool.actors.devices.position_writer import POSITION_WRITER, Append
from motorpool.actors.files.media_files import open_media_files
from motorpool.actors.messages.topics import POSITIONS
from motorpool.actors.timed_events.timed_events import TimedEvents
from motorpool.actors.tree import fleet_tree
from motorpool.actors.upkeep import resource_monitor
from motorpool.actors.upkeep.retention import Retention
from motorpool.actors.video.capture_retention import CaptureRetention
from motorpool.api import app as app_module
from motorpool.api.app import create_app
from motorpool.api.auth.password_resets import PASSWORD_RESETS, PasswordResets
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.auth.signing_keys import open_keys
from motorpool.api.cluster.home_requests import HOME_REQUESTS, HomeRequests
from motorpool.api.cluster.stream_moves import OtherServers
from motorpool.api.configuration.live import open_live_settings, settings_reader_spec
from motorpool.api.http.asgi import Application
from motorpool.api.http.listening_sockets import bind
from motorpool.api.http.server import HttpServer, NodeListener, ServedApp
from motorpool.api.login_settings import LoginSettings
from motorpool.api.logins.setup import HEADER
from motorpool.api.program.outgoing_services import build_outgoing_services
from motorpool.api.server_context import ServerContext
from motorpool.api.settings import Settings
from motorpool.runtime import ChildSpec, Link, Pipe, SharedTime, System, TaskSpec, open_system
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.records import Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
CHEAP_LOGIN = LoginSettings(hash_memory_kib=64, hash_rounds=1)


class RoutedOnce(Application):
    """Takes the URL rules of the process's first application: they are the same, and 120 take long to add."""

    rules: Map | None = None

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        if RoutedOnce.rules is not None:
            self.url_map = RoutedOnce.rules

    def add_url_rule(
        self, rule: str, endpoint: str | None = None, view_func: Any = None, *args: Any, **options: Any
    ) -> None:
        if RoutedOnce.rules is None:
            super().add_url_rule(rule, endpoint, view_func, *args, **options)
        else:
            self.view_functions[endpoint or view_func.__name__] = view_func


app_module.Application = RoutedOnce  # type: ignore[misc, attr-defined]


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Any
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        import json

        return json.loads(self.body)


class Client:
    """One caller: a cookie jar, or a fixed Authorization header."""

    def __init__(self, app: Any, headers: dict[str, str] | None = None) -> None:
        self.app = app
        self.headers = headers or {}
        self.quart = app.test_client()

    async def call(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **sent: Any
    ) -> Answer:
        response = await self.quart.open(
            path,
            method=method,
            headers={**self.headers, **(headers or {})},
            **sent,
        )
        return Answer(response.status_code, response.headers, await response.get_data(as_text=False))

    async def get(self, path: str, **sent: Any) -> Answer:
        return await self.call("GET", "/api" + path, **sent)

    async def post(self, path: str, **sent: Any) -> Answer:
        return await self.call("POST", "/api" + path, **sent)

    async def put(self, path: str, **sent: Any) -> Answer:
        return await self.call("PUT", "/api" + path, **sent)

    async def delete(self, path: str, **sent: Any) -> Answer:
        return await self.call("DELETE", "/api" + path, **sent)


@dataclass
class Served:
    """The server under test."""

    context: ServerContext
    app: Any
    clock: TestClock
    port: int = 0
    admin: Client = field(init=False)
    admin_id: int = 0

    def client(self, headers: dict[str, str] | None = None) -> Client:
        return Client(self.app, headers)

    async def user(self, name: str, **fields: Any) -> Client:
        """Make a user by the administrator, and a client that is logged in as him."""
        email = f"{name.replace(' ', '.')}@example.org"
        made = await self.admin.post(
            "/users", json={"name": name, "email": email, "password": name, **fields}
        )
        assert made.status == 200, made.text
        client = await self.log_in(email, name)
        client.id = made.json()["id"]
        return client

    def cookie(self, client: Any) -> str:
        """The session cookie of a client that is logged in."""
        return next(each.value for each in client.quart.cookie_jar if each.name == "JSESSIONID")

    async def log_in(self, email: str, password: str) -> Any:
        client = self.client()
        answer = await client.post("/session", form={"email": email, "password": password})
        assert answer.status == 200, answer.text
        return client

    async def device(self, client: Client, number: str, **fields: Any) -> int:
        made = await client.post("/devices", json={"name": f"Vehicle {number}", "uniqueId": number, **fields})
        assert made.status == 200, made.text
        return int(made.json()["id"])

    def position(self, device_id: int, when: datetime = NOON, **fields: Any) -> Position:
        """A position somewhere in Berlin, unless told otherwise."""
        known = {"protocol": "jt808", "latitude": 52.5, "longitude": 13.4, "speed": 10.0, "valid": True}
        return Position(
            device_id=device_id, server_time=when, device_time=when, fix_time=when, **{**known, **fields}
        )

    async def report(self, *positions: Position) -> list[Position]:
        """Store positions the way devices do; the stored ones, with ids."""
        stored: list[Position] = []
        async with self.context.system.topic(POSITIONS).subscribe() as subscription:
            for position in positions:
                await self.context.system.ref(POSITION_WRITER).tell(Append(position))
            while len(stored) < len(positions):
                for batch in await subscription.receive_batch():
                    stored.extend(batch)
        return stored


@asynccontextmanager
async def start(
    database: Database,
    *,
    listen: bool = False,
    protocols: tuple[str, ...] = (),
    node: int = 0,
    nodes: NodeListener | None = None,
    is_first: bool = True,
    pipe: Pipe | None = None,
    **settings: Any,
) -> AsyncIterator[Served]:
    """Run a server on the database; with `listen` on a real socket too, with `protocols` on their ports.

    With `node` it is that server of a cluster, which listens for the others at `nodes`, and is linked to them
    by `pipe`. Only the first one makes the administrator.
    """
    chosen = Settings(**{"login": CHEAP_LOGIN, **settings})
    if chosen.login.password_min_length == LoginSettings().password_min_length:
        # Users of tests have short passwords, unless a test is about passwords.
        chosen = replace(chosen, login=replace(chosen.login, password_min_length=0))
    live = await open_live_settings(database, chosen)
    clock = TestClock(NOON)
    finder = HomeFinder(database, node, clock.monotonic)
    carried = (far_device.CARRIED,)
    link = Link(pipe, node, SharedTime(clock), carried, errors=far_device.ERRORS) if pipe else None
    keys = await open_keys(database, NOON)
    row = await server.fetch(database)
    contexts: list[ServerContext] = []
    apps: list[Any] = []

    def create_served_app(system: System) -> ServedApp:
        if contexts:
            # The socket and the test client are served by one application.
            return ServedApp(
                app=apps[0], closing=contexts[0].lifetime.closing, changes=contexts[0].lifetime.changes
            )
        context = ServerContext(
            system=system,
            database=database,
            live=live,
            passwords=PasswordHasher(chosen.login),
            token_keys=keys,
            server=row,
            files=files,
            outgoing=outgoing,
            single_node=None if node else 0,
            shared_attempts=shared_attempts,
            home_finder=finder if nodes is not None else None,
            link=link,
        )
        contexts.append(context)
        apps.append(create_app(context))
        RoutedOnce.rules = apps[0].url_map
        return ServedApp(app=apps[0], closing=context.lifetime.closing, changes=context.lifetime.changes)

    shared_attempts = SharedAttempts(database, clock) if chosen.cluster.name is not None else None
    outgoing = build_outgoing_services(live, clock, shared_attempts)
    files = open_media_files(chosen.data, reserve_bytes=chosen.files.reserve_bytes)
    live.follow(lambda live: files.limit(live.settings.files.device_quota_bytes or 0))
    sockets = bind("127.0.0.1", 0) if listen else ()
    resets = ChildSpec(
        kind=PASSWORD_RESETS,
        factory=lambda: PasswordResets(database, outgoing.mail, keys, live, shared_attempts),
    )
    services = (
        settings_reader_spec(database, live),
        resets,
        *(
            (ChildSpec(kind=HOME_REQUESTS, factory=lambda: HomeRequests(database)),)
            if nodes is not None
            else ()
        ),
        *(
            (
                TaskSpec(
                    name="http", factory=lambda: HttpServer(create_served_app, sockets, chosen.http, nodes)
                ),
            )
            if listen
            else ()
        ),
    )
    try:
        tree = fleet_tree(
            database,
            replace(live.settings, protocols=protocols),
            in_use=lambda: live.settings,
            outgoing=outgoing,
            services=services,
            node=node,
            clustered=bool(node),
            link=link,
            home_finder=finder,
            files=files,
            console_url=chosen.public_url,
            others=None if nodes is None else OtherServers(),
        )
        async with open_system(tree, clock=clock) as system:
            app = create_served_app(system).app
            served = Served(contexts[0], app, clock, sockets[0].getsockname()[1] if sockets else 0)
            if is_first:
                made = await served.client().post(
                    "/users",
                    json={"name": "Admin", "email": "admin@example.org", "password": "admin"},
                    headers={HEADER: served.context.logins.setup_token},
                )
                assert made.status == 200, made.text
                served.admin_id = made.json()["id"]
            served.admin = await served.log_in("admin@example.org", "admin")
            yield served
    finally:
        for bound in (*sockets, *(nodes.sockets if nodes is not None else ())):
            bound.close()


@pytest.fixture(autouse=True)
def unwatched_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions of the machine are as tests say: its disk and memory are looked at only at the start."""
    monkeypatch.setattr(resource_monitor, "LOOK_SECONDS", math.inf)


@pytest.fixture(autouse=True)
def idle_upkeep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing expires, and no event comes at an instant: to look for that is a third of what a start asks
    the database. A file whose tests need it has a fixture of this name that does nothing.
    """

    async def idle(_: Any) -> None:
        await trio.sleep_forever()

    for actor in (Retention, CaptureRetention, TimedEvents):
        monkeypatch.setattr(actor, "run", idle)


@pytest.fixture
def starting(database: Database, tmp_path: Path) -> Callable[..., Any]:
    """For tests that need settings of their own: `async with starting(http=…) as served`."""
    return partial(start, database, data=tmp_path)


@pytest.fixture
async def served(starting: Callable[..., Any]) -> AsyncIterator[Served]:
    async with starting() as running:
        yield running
