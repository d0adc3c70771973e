"""Diagnostics and restart of the server, for administrators (docs/server.md#health-and-diagnostics)."""

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import trio
from quart import Response

from motorpool.actors.messages.directory import DIRECTORY, GetDirectorySizes
from motorpool.actors.words.record_json import format_time
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.responses import as_text
from motorpool.api.server_context import ServerContext
from motorpool.api.version import program_version

OPERATIONS = Operations("server")

TEXT = {200: Content(media_type="text/plain")}


@OPERATIONS.operation("GET", "/server/cache", answers=TEXT, errors=(400,))
async def get_cache(call: Call) -> Response:
    """What the server has in memory, for people; for administrators."""
    ADMINISTER.require(call.caller)
    sizes = await call.context.system.ref(DIRECTORY).ask(GetDirectorySizes())
    resident = await trio.to_thread.run_sync(_resident_bytes)
    lines = [
        f"motorpool {program_version()}, running since {format_time(call.context.lifetime.started)}",
        f"memory: {resident / 1e6:.0f} MB",
        f"database: {call.context.database!r}",
        f"rows of devices: {len(call.context.devices)}",
        *(f"{name}: {size}" for name, size in sizes.items()),
        *_actors(call.context),
    ]
    return as_text("\n".join(lines) + "\n")


def _actors(context: ServerContext) -> Iterator[str]:
    yield ""
    yield f"{'actors':24}{'alive':>8}{'waiting':>9}{'handled':>12}{'restarts':>10}{'given up':>10}"
    for kind in context.system.totals():
        yield (
            f"{kind.kind:24}{kind.alive:>8}{kind.depth:>9}{kind.handled:>12}"
            f"{kind.restarts:>10}{kind.given_up:>10}"
        )
    yield ""
    yield f"{'topics':24}{'readers':>8}{'published':>12}{'lost':>9}{'dropped':>9}"
    for topic in context.system.topics():
        yield f"{topic.name:24}{topic.subscriptions:>8}{topic.published:>12}{topic.lost:>9}{topic.dropped:>9}"


def _resident_bytes() -> int:
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return 0


@OPERATIONS.operation("POST", "/server/reboot", answers=TEXT, errors=(400,))
async def reboot_server(call: Call) -> Response:
    """Stop in order and start again; for administrators."""
    ADMINISTER.require(call.caller)
    await record_action(call, call.context.database, "reboot", "server", call.context.server.id)
    # The shutdown lets requests in progress end, so this answer is sent first.
    call.context.lifetime.restart_requested.set()
    return as_text("the server starts again")
