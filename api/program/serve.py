"""The composition root: settings, database, actors, HTTP, and a shutdown within ten seconds."""

import gc
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import trio

from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.files.media_files import open_media_files
from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.messages.conditions import DATABASE, note_out_of_files
from motorpool.actors.tree import fleet_tree
from motorpool.api.app import create_app
from motorpool.api.auth.password_resets import PASSWORD_RESETS, PasswordResets
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.auth.signing_keys import open_keys
from motorpool.api.cluster.home_requests import HOME_REQUESTS, HomeRequests
from motorpool.api.cluster.node_link import open_link
from motorpool.api.cluster.stream_moves import OtherServers
from motorpool.api.configuration.live import open_live_settings, settings_reader_spec
from motorpool.api.http.departure import Departure
from motorpool.api.http.listening_sockets import bind
from motorpool.api.http.server import HttpServer, NodeListener, ServedApp, open_node_listener, tls_context
from motorpool.api.logins.setup import fetch_setup_token
from motorpool.api.nodes.supervised import Supervised
from motorpool.api.program.configured_database import open_configured_database
from motorpool.api.program.demo import FleetProgram, simulate_command
from motorpool.api.program.errors import StartFailed, error_line, is_foreseen
from motorpool.api.program.exceeded_quotas import log_exceeded_quotas
from motorpool.api.program.file_limit import raise_file_limit
from motorpool.api.program.free_memory import limit_fragmentation, return_free_memory
from motorpool.api.program.leaving import leave
from motorpool.api.program.log import without_repetitions
from motorpool.api.program.outgoing_services import build_outgoing_services
from motorpool.api.program.preparation import announce, prepare, warn_of_retention
from motorpool.api.program.private_files import hide_from_others
from motorpool.api.program.reboot import RESTART_CODE, restart_process
from motorpool.api.server_context import ServerContext
from motorpool.api.settings import Settings
from motorpool.api.version import program_version
from motorpool.runtime import (
    ChildSpec,
    Conditions,
    LoopStalls,
    SharedTime,
    Signal,
    System,
    SystemClock,
    TaskSpec,
    open_system,
)
from motorpool.storage.accounts import server, tokens
from motorpool.storage.cluster.membership import open_membership
from motorpool.storage.errors import StorageUnavailable, TooManyFiles

STOP_SECONDS = 9.5
"""Seconds after which a shutdown ends the process; the specification allows ten."""
SERVER_KEY = "device codecs"
"""Name of the key of the device codecs in the database."""
SWITCH_SECONDS = 0.0001
"""How long a thread that computes keeps the event loop waiting. The loop lets go of the interpreter with each
system call; the 5 ms that are usual in Python, at each of them, made requests take a second beside two
calendars that were read."""

_log = logging.getLogger(__name__)


async def serve(
    settings: Settings,
    *,
    demo: bool = False,
    record: Path | None = None,
    supervised: Supervised | None = None,
    inherited: InheritedSockets | None = None,
) -> bool:
    """Run the server until SIGTERM, SIGINT or a reboot; return whether to restart.

    `supervised` is what its supervisor has given to one of several servers of the machine; one whose
    supervisor has ended stops as at SIGTERM. `inherited` are sockets that a service manager has opened.

    Raises:
        StartFailed: it cannot start.
    """
    limit_fragmentation()
    sys.setswitchinterval(SWITCH_SECONDS)
    inherited = inherited or InheritedSockets()
    state = ServerState(inherited, is_supervised=supervised is not None)
    async with trio.open_nursery() as nursery:
        running = trio.CancelScope()
        await nursery.start(_stop_on_signal, state, running)
        nursery.start_soon(_stop_when_to_restart, state)
        if supervised is not None:
            nursery.start_soon(supervised.follow, partial(_stop, state, running))
            nursery.start_soon(_pass_on_restart_requests, state, supervised)
        else:
            nursery.start_soon(_restart_when_requested, state)
        nursery.start_soon(return_free_memory)
        with running:
            await _run_server(settings, state, demo=demo, record=record, supervised=supervised)
        nursery.cancel_scope.cancel()
    return state.restart


class ServerState:
    """The phase of this run of the server, and what was requested of it."""

    def __init__(self, inherited: InheritedSockets | None = None, *, is_supervised: bool = False) -> None:
        self.inherited = inherited or InheritedSockets()
        self.started = trio.Event()
        self.stopping = trio.Event()
        self.must_restart = trio.Event()
        """Set when this process has to begin anew."""
        self.restart_requested = Signal()
        """Set by POST /server/reboot."""
        self.is_supervised = is_supervised
        """Whether it is the supervisor that starts the server again."""
        self.restart = False
        """Whether the process restarts after the shutdown."""


async def _run_server(
    settings: Settings,
    state: ServerState,
    *,
    demo: bool,
    record: Path | None,
    supervised: Supervised | None = None,
) -> None:
    _log.info("motorpool %s starts", program_version())
    if supervised is not None:
        settings = supervised.settings(settings)
    raise_file_limit(settings)
    clock = SystemClock()
    shared_time = SharedTime(clock)

    def compare_clocks(now: datetime, age_seconds: float) -> None:
        clock.compare(now, age_seconds)
        shared_time.compare(now, age_seconds)

    conditions = Conditions(clock)
    loop_stalls = LoopStalls()
    hide_data(settings.data)
    roles = settings.node.roles
    sockets = bind_http(settings, state.inherited) if supervised is None else supervised.http
    nodes: NodeListener | None = None
    try:
        nodes = _bind_for_nodes(settings, state.inherited)
        async with (
            open_configured_database(settings, clock, partial(_note_outage, conditions)) as database,
            open_membership(
                database,
                settings.cluster.name,
                program_version(),
                on_dead=state.must_restart.set,
                on_time=compare_clocks,
                address=None if nodes is None else nodes.url,
                key=None if nodes is None else nodes.key,
                roles=roles,
            ) as node,
            open_link(settings, node, shared_time) as link,
        ):
            if supervised is not None and nodes is not None:
                await supervised.tell_joined(node, nodes.url, nodes.key)
            passwords = PasswordHasher(settings.login)
            prepared = None
            if supervised is None:
                prepared = await prepare(settings, database, passwords, demo=demo)
            token_keys = await open_keys(database, clock.now())
            server_key = await tokens.signing_key(database, SERVER_KEY, partial(secrets.token_bytes, 32))
            row = await server.fetch(database)
            setup_token = await fetch_setup_token(database) if prepared is None else prepared.setup_token
            live = await open_live_settings(database, settings)
            if supervised is None:
                warn_of_retention(live)
            fleet = live.settings

            clustered = settings.cluster.name is not None
            shared_attempts = SharedAttempts(database, clock) if clustered else None
            outgoing = build_outgoing_services(live, clock, shared_attempts)
            home_finder = HomeFinder(database, node, clock.monotonic) if nodes or link else None
            files = open_media_files(fleet.data, reserve_bytes=fleet.files.reserve_bytes)
            live.follow(lambda live: files.limit(live.settings.files.device_quota_bytes or 0))

            def create_served_app(system: System) -> ServedApp:
                context = ServerContext(
                    system=system,
                    database=database,
                    live=live,
                    passwords=passwords,
                    token_keys=token_keys,
                    server=row,
                    setup_token=setup_token,
                    restart_requested=state.restart_requested,
                    outgoing=outgoing,
                    single_node=None if clustered else node,
                    shared_attempts=shared_attempts,
                    home_finder=None if nodes is None else home_finder,
                    link=link,
                    machine=None if supervised is None else supervised.machine,
                    files=files,
                    loop_stalls=loop_stalls,
                )
                return ServedApp(
                    app=create_app(context),
                    closing=context.lifetime.closing,
                    changes=context.lifetime.changes,
                )

            departure = Departure()
            home_requests = ChildSpec(
                kind=HOME_REQUESTS, factory=lambda: HomeRequests(database), mailbox_size=10_000
            )
            services: list[ChildSpec[Any]] = [
                settings_reader_spec(database, live),
                ChildSpec(
                    kind=PASSWORD_RESETS,
                    factory=lambda: PasswordResets(
                        database, outgoing.mail, token_keys, live, shared_attempts
                    ),
                ),
                *((home_requests,) if nodes is not None else ()),
                TaskSpec(
                    name="http",
                    factory=lambda: HttpServer(
                        create_served_app,
                        sockets,
                        settings.http,
                        nodes,
                        load=None if supervised is None else supervised.http_load,
                        departure=departure,
                    ),
                ),
            ]
            address = dialled_address(sockets or (nodes.sockets if nodes is not None else ()))
            if demo and supervised is None:
                command = simulate_command(address, settings.port.offset, settings.data / "login.json")
                services.append(
                    TaskSpec(name="simulated_fleet", factory=lambda: FleetProgram(command, os.environ))
                )
            try:
                tree = fleet_tree(
                    database,
                    fleet,
                    in_use=lambda: live.settings,
                    outgoing=outgoing,
                    services=tuple(services),
                    server_key=server_key,
                    node=node,
                    clustered=clustered,
                    link=link,
                    home_finder=home_finder,
                    files=files,
                    record=record,
                    console_url=settings.public_url,
                    ports=None if supervised is None else supervised.ports,
                    roles=roles,
                    inherited=state.inherited,
                    others=OtherServers() if clustered and nodes is not None else None,
                )
            except ValueError as error:
                raise StartFailed(f"MOTORPOOL_PROTOCOLS: {error}") from None
            async with open_system(tree, clock=clock, conditions=conditions) as system:
                # What was created so far lives as long as the server: exclude it from full collections.
                gc.collect()
                gc.freeze()
                require_used(state.inherited)
                state.started.set()
                if prepared is not None:
                    announce(settings, address, prepared)
                    await log_exceeded_quotas(database, live.settings.quotas)
                if supervised is not None:
                    await supervised.tell_ready()
                with loop_stalls.measured(), without_repetitions(conditions):
                    async with trio.open_nursery() as nursery:
                        if supervised is not None:
                            nursery.start_soon(_leave_when_asked, system, state, supervised, departure)
                        await state.stopping.wait()
                        nursery.cancel_scope.cancel()
                _log.info("stopping")
    except StartFailed:
        raise
    except Exception as error:
        if is_foreseen(error):
            raise StartFailed(error_line(error)) from error
        raise
    finally:
        for bound in (*sockets, *(nodes.sockets if nodes is not None else ())):
            bound.close()
    _log.info("stopped")


async def _stop_on_signal(
    state: ServerState,
    running: trio.CancelScope,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Shut down in order at the first signal; cancel at a second one, or at one during the start.

    SIGHUP is the end of the terminal that the program was started in, or else says that settings have
    changed, which are read at the start.
    """
    has_terminal = os.isatty(0)
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        task_status.started()
        async for each in signals:
            if each != signal.SIGHUP or has_terminal:
                _stop(state, running)
            elif state.is_supervised:
                _log.warning("SIGHUP is for the supervisor, which then replaces all server processes")
            else:
                _log.warning(
                    "SIGHUP changes nothing: settings are read at the start. POST /server/reboot and"
                    " `systemctl restart` start the server again; several processes (`nodes`) are replaced"
                    " without an interruption at SIGHUP"
                )


def _stop(state: ServerState, running: trio.CancelScope) -> None:
    state.restart = False
    if not state.stopping.is_set():
        _force_exit_after(STOP_SECONDS, state)
    if state.stopping.is_set() or not state.started.is_set():
        running.cancel()
    state.stopping.set()


async def _leave_when_asked(
    system: System, state: ServerState, supervised: Supervised, departure: Departure
) -> None:
    """Leave the machine to the other servers and stop, once the supervisor says so."""
    await supervised.leave_asked.wait()
    _log.info("leaving: another server process has taken the place of this one")
    await leave(system, supervised.ports.leaving, supervised.loads, departure)
    if not state.stopping.is_set():
        _force_exit_after(STOP_SECONDS, state)
        state.stopping.set()


async def _pass_on_restart_requests(state: ServerState, supervised: Supervised) -> None:
    while True:
        await state.restart_requested.wait()
        await supervised.ask_for_restart()


async def _restart_when_requested(state: ServerState) -> None:
    await state.restart_requested.wait()
    state.must_restart.set()


async def _stop_when_to_restart(state: ServerState) -> None:
    await state.must_restart.wait()
    if not state.stopping.is_set():
        _log.info("restarting on request")
        state.restart = True
        _force_exit_after(STOP_SECONDS, state)
        state.stopping.set()


def _force_exit_after(seconds: float, state: ServerState) -> None:
    """End or restart the process after this time, from a thread, whatever hangs."""

    def force_exit() -> None:
        _log.critical("the shutdown took longer than %g s and was aborted", seconds)
        if not state.restart:
            os._exit(1)
        os._exit(RESTART_CODE if state.is_supervised else restart_process(state.inherited))

    timer = threading.Timer(seconds, force_exit)
    timer.daemon = True
    timer.start()


def _note_outage(conditions: Conditions, error: StorageUnavailable | None) -> None:
    if error is None:
        conditions.leave(DATABASE)
    elif isinstance(error, TooManyFiles):
        note_out_of_files(conditions, "the database cannot be connected to")
    else:
        conditions.enter(DATABASE, f"{error.text}: {error}", error.text)


def hide_data(data: Path) -> None:
    """Close the data folder to other users, if it is there."""
    try:
        if data.exists():
            hide_from_others(data)
    except OSError as error:
        _log.warning("other users of this machine may read %s: %s", data, error.strerror)


def require_used(inherited: InheritedSockets) -> None:
    """Raise StartFailed if nobody accepts from one of these sockets: its clients would wait for ever."""
    if unused := inherited.unused():
        raise StartFailed(
            f"the service manager has opened {', '.join(unused)} (LISTEN_FDS), where this server does not"
            " listen: change ListenStream or ListenDatagram of the unit, or the settings"
        )


def bind_http(settings: Settings, inherited: InheritedSockets | None = None) -> tuple[socket.socket, ...]:
    """Bind the HTTP ports, if this server has the role `api`. Raises StartFailed."""
    if "api" not in settings.node.roles:
        return ()
    try:
        # Only to report a wrong certificate before anything is started.
        tls_context(settings.http)
        return bind(*settings.address, setting="bind", inherited=inherited)
    except OSError as error:
        raise StartFailed(error_line(error)) from None


def _bind_for_nodes(settings: Settings, inherited: InheritedSockets) -> NodeListener | None:
    """Bind where other servers of the cluster reach this one; None for a server that is alone."""
    if settings.cluster.name is None or settings.node.address is None:
        return None
    return open_node_listener(settings.node.address, inherited)


def dialled_address(sockets: Sequence[socket.socket]) -> tuple[str, int]:
    """Return the host and port under which this machine reaches the sockets."""
    host, port = sockets[0].getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 - what a client may dial
