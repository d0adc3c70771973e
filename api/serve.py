"""The composition root: settings, database, actors, HTTP, and an orderly end within ten seconds."""

import gc
import logging
import os
import resource
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
import trio

from motorpool.actors.tree import FleetSettings, fleet_tree
from motorpool.api.app import create_app
from motorpool.api.demo import fleet_program_spec, keep_credentials, simulate_command
from motorpool.api.house import House
from motorpool.api.http import MadeApp, http_spec
from motorpool.api.listening import bind
from motorpool.api.passwords import Attempts, Passwords
from motorpool.api.settings import Settings
from motorpool.api.version import program_version
from motorpool.runtime import Clock, System, SystemClock, open_system
from motorpool.storage import server, tokens, users
from motorpool.storage.database import Database, DatabaseSettings, open_database
from motorpool.storage.errors import StorageError
from motorpool.storage.records import User

__all__ = ["StartFailed", "edit_user", "last_line", "serve"]

STOP_SECONDS = 9.5
"""The contract gives the stop ten; what is not done by then is cut off, which the database survives."""

TOKEN_KEY = "session tokens"  # noqa: S105 - the name of the key, not the key
"""Name of the signing key in the database."""

_log = logging.getLogger(__name__)


class StartFailed(Exception):
    """The server cannot start or go on; the text is the process's last line."""


async def serve(settings: Settings, *, demo: bool = False, record: Path | None = None) -> None:
    """Run the server until SIGTERM or SIGINT. Raises StartFailed."""
    stopping, up = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        running = trio.CancelScope()
        await nursery.start(_watch_signals, stopping, up, running)
        with running:
            await _run(settings, stopping, up, demo=demo, record=record)
        nursery.cancel_scope.cancel()


async def _run(
    settings: Settings, stopping: trio.Event, up: trio.Event, *, demo: bool, record: Path | None
) -> None:
    _log.info("motorpool %s starts", program_version())
    raise_file_limit()
    clock = SystemClock()
    sockets = _bind(settings)
    try:
        async with _database(settings, clock) as database:
            passwords = Passwords(settings.login)
            login = keep_credentials(settings.data) if demo else None
            email = login.email if login else settings.admin.email
            password = login.password if login else settings.admin.password
            if email is not None and password is not None:
                await _create_first(database, passwords, email, password)
            token_key = await tokens.signing_key(database, TOKEN_KEY, partial(secrets.token_bytes, 32))
            row = await server.fetch(database)

            def make_app(system: System) -> MadeApp:
                house = House(
                    system=system,
                    database=database,
                    settings=settings,
                    passwords=passwords,
                    attempts=Attempts(settings.login, clock.monotonic),
                    token_key=token_key,
                    server=row,
                )
                return MadeApp(app=create_app(house), closing=house.closing)

            services = [http_spec(make_app, sockets, settings.http)]
            address = _address(sockets)
            if demo:
                command = simulate_command(address, settings.port.offset, settings.data / "login.json")
                services.append(fleet_program_spec(command, os.environ))
            try:
                tree = fleet_tree(database, fleet_settings(settings, record), services=tuple(services))
            except ValueError as error:
                raise StartFailed(f"MOTORPOOL_PROTOCOLS: {error}") from None
            async with open_system(tree, clock=clock):
                # What lives as long as the server need not be looked at by every full collection.
                gc.collect()
                gc.freeze()
                up.set()
                _announce(settings, address, login.email if login else "", login.password if login else "")
                await stopping.wait()
                _log.info("stopping")
    except (StorageError, OSError) as error:
        raise StartFailed(last_line(error)) from error
    except BaseExceptionGroup as group:
        wrong, rest = group.split((StartFailed, StorageError, OSError))
        if wrong is None or rest is not None:
            raise
        raise StartFailed(last_line(wrong)) from group
    finally:
        for bound in sockets:
            bound.close()
    _log.info("stopped")


async def _watch_signals(
    stopping: trio.Event,
    up: trio.Event,
    running: trio.CancelScope,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """The first signal stops in order; a second one, or one during the start, cuts short."""
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            if not stopping.is_set():
                _cut_off_after(STOP_SECONDS)
            if stopping.is_set() or not up.is_set():
                running.cancel()
            stopping.set()


def _cut_off_after(seconds: float) -> None:
    """A last resort in a thread of its own: whatever hangs, the process ends."""

    def cut_off() -> None:
        _log.critical("the stop took longer than %g s and was cut off", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, cut_off)
    timer.daemon = True
    timer.start()


@asynccontextmanager
async def _database(settings: Settings, clock: Clock) -> AsyncIterator[Database]:
    chosen = DatabaseSettings(
        url=settings.database,
        data=settings.data,
        pool_size=settings.postgres.pool_size,
        start_seconds=settings.postgres.start_seconds,
        statement_seconds=settings.postgres.statement_seconds,
        acquire_seconds=settings.postgres.acquire_seconds,
    )
    async with open_database(chosen, clock_now=clock.now) as database:
        yield database


def fleet_settings(settings: Settings, record: Path | None) -> FleetSettings:
    """What the actors are told of the settings."""
    return FleetSettings(
        data=settings.data,
        device_host=settings.device.host,
        public_host=settings.public.host,
        port_offset=settings.port.offset,
        protocols=settings.protocols,
        register_unknown=settings.register.unknown,
        connections_per_address=settings.device.connections_per_address,
        idle_seconds=settings.device.idle_seconds,
        login_seconds=settings.device.login_seconds,
        status_timeout_seconds=settings.device.status_seconds,
        segment_seconds=settings.video.segment_seconds,
        window_segments=settings.video.window_segments,
        autostart=settings.video.autostart,
        start_seconds=settings.video.start_seconds,
        linger_seconds=settings.video.linger_seconds,
        unrequested_media=settings.video.unrequested,
        position_retention_days=settings.positions.retention_days,
        record=record,
    )


async def _create_first(database: Database, passwords: Passwords, email: str, password: str) -> None:
    """Create the administrator of the settings if there is no user yet."""
    if await users.any_exist(database):
        return
    hashed = await passwords.hash(password)
    async with database.transaction() as transaction:
        if not await users.register(transaction):
            user = User(name=email, email=email.strip(), administrator=True, device_limit=-1, user_limit=-1)
            made = await users.TABLE.insert(transaction, user)
            await users.set_password(transaction, made.id, hashed)


async def edit_user(settings: Settings, email: str, password: str | None, administrator: bool | None) -> str:
    """Make or change a user from the shell; the result says what was done. Raises StartFailed."""
    clock = SystemClock()
    try:
        async with _database(settings, clock) as database:
            hashed = await Passwords(settings.login).hash(password) if password else None
            async with database.transaction() as transaction:
                found = await users.by_email(transaction, email)
                if found is None:
                    if hashed is None:
                        raise StartFailed(f"there is no user {email}; --password makes one")
                    user = User(name=email, email=email.strip(), administrator=bool(administrator))
                    made = await users.TABLE.insert(transaction, user)
                    await users.set_password(transaction, made.id, hashed)
                    return f"user {made.email} made" + (", administrator" if made.administrator else "")
                if administrator is not None:
                    changed = msgspec.structs.replace(found, administrator=administrator)
                    await users.TABLE.update(transaction, changed)
                if hashed is not None:
                    await users.set_password(transaction, found.id, hashed)
                return f"user {found.email} changed"
    except StorageError as error:
        raise StartFailed(last_line(error)) from error


def raise_file_limit() -> None:
    """Every device is an open file."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def last_line(error: BaseException) -> str:
    """The one sentence that matters in an error, a group of them, or a chain of causes."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    root = error
    while root.__cause__ is not None and not isinstance(root, StorageError | OSError | StartFailed):
        root = root.__cause__
        while isinstance(root, BaseExceptionGroup):
            root = root.exceptions[0]
    if isinstance(root, OSError) and root.strerror:
        text = root.strerror if root.filename is None else f"{root.filename}: {root.strerror}"
    else:
        text = str(root) or type(root).__name__
    return text.partition("\n")[0]


def _bind(settings: Settings) -> tuple[socket.socket, ...]:
    try:
        return bind(*settings.address)
    except OSError as error:
        raise StartFailed(last_line(error)) from None


def _address(sockets: Sequence[socket.socket]) -> tuple[str, int]:
    host, port = sockets[0].getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - what a client may dial


def _announce(settings: Settings, address: tuple[str, int], email: str, password: str) -> None:
    host, port = address
    scheme = "https" if settings.http.tls_certificate else "http"
    shown = settings.public.url or f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/"
    print(f"Motorpool is running at {shown}", flush=True)
    if email:
        print(f"Log in as {email} with the password {password}", flush=True)
