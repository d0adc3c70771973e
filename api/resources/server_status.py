"""How the server is, and what takes room, for administrators (docs/server.md#status)."""

import os
import resource
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
import trio
from quart import Response

from motorpool.actors.files.disk_space import disk_space
from motorpool.actors.upkeep.memory_limit import MemoryLimit
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.responses import as_json
from motorpool.api.version import program_version
from motorpool.storage.cluster import node_list
from motorpool.storage.cluster.node_list import Node
from motorpool.storage.database import migrations
from motorpool.storage.errors import StorageError
from motorpool.storage.upkeep import database_facts, statistics, storage_use
from motorpool.storage.upkeep.storage_use import WEEK, TableUse

OPERATIONS = Operations("server")

DATABASE_SECONDS = 5.0
"""A database that answers later counts as away."""
PLACES = ("media", "override")
"""Folders of the data folder whose files are measured."""
MOST_FILES = 200_000
"""Files that are measured; there may be more."""


class PresentCondition(msgspec.Struct, frozen=True):
    """What is wrong with the server at present (docs/server.md#conditions)."""

    name: str
    text: str
    """One line for people."""
    cause: str
    """What was noticed lately."""
    since: datetime
    """When it began."""


class Room(msgspec.Struct, frozen=True):
    """Bytes of a disk or of memory."""

    used: int
    """Bytes in use."""
    total: int
    """All bytes there are."""


class DatabaseStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The database."""

    embedded: bool
    """The server runs it itself."""
    version: str
    """Of PostgreSQL."""
    bytes: int
    """Its size on the disk."""
    schema: int
    """Number of its last migration."""
    pending: int
    """Migrations of this release that it does not have."""
    latency: float
    """Seconds that a query of nothing took just now."""


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a server is."""

    release: str
    """Of the program."""
    started: datetime
    """When it was started."""
    healthy: bool
    """`GET /health` succeeds."""
    conditions: list[PresentCondition]
    """What is wrong, the oldest first."""
    disk: Room | None
    """Of the data folder; null if there is none."""
    memory: Room | None
    """Of the control group of the server, without the cache of files; null where there is no limit."""
    resident: int
    """Bytes of memory of this process."""
    longest_stall: float
    """The longest time for which it served nothing, in seconds, within the last one to two minutes."""
    database: DatabaseStatus | None
    """Null while it does not answer."""
    node: int | None
    """The number of this server among `nodes`; null if it is not known."""
    nodes: list[Node]
    """Servers of the database, the newest first, and those that ended within a day."""


class DayCount(msgspec.Struct, frozen=True, rename="camel"):
    """What was stored in a day."""

    time: datetime
    """Until when the day is counted."""
    positions: int
    """Positions stored."""


class FolderUse(msgspec.Struct, frozen=True):
    """What the files below a folder of the data folder take."""

    name: str
    files: int
    """Number of files."""
    bytes: int
    """Their bytes."""


class StorageUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What takes room."""

    database_bytes: int
    """The whole database on the disk."""
    tables: list[TableUse]
    """Its tables, the largest first."""
    days: list[DayCount]
    """Positions of the last seven days, the oldest first."""
    folders: list[FolderUse]
    """Files of the data folder."""
    whole: bool
    """All files were measured; false where there are too many."""
    disk: Room | None
    """Of the data folder; null if there is none."""


@OPERATIONS.operation("GET", "/server/status", answer=ServerStatus, errors=(400,))
async def get_status(call: Call) -> Response:
    """How this server is, with its database and the other servers of a cluster; for administrators.

    It is answered while the database is away.
    """
    ADMINISTER.require(call.caller)
    context = call.context
    conditions = list(context.system.conditions)
    database, nodes = await _database(call)
    disk, memory, resident = await trio.to_thread.run_sync(_measure, context.settings.data)
    fails = any(each.kind.fails_health for each in conditions)
    return as_json(
        ServerStatus(
            release=program_version(),
            started=context.lifetime.started,
            healthy=database is not None and not fails and not context.lifetime.closing.is_set(),
            conditions=[
                PresentCondition(each.kind.name, each.text, each.cause, each.since) for each in conditions
            ],
            disk=disk,
            memory=memory,
            resident=resident,
            longest_stall=context.loop_stalls.longest(),
            database=database,
            node=_own_number(call, nodes),
            nodes=nodes,
        )
    )


async def _database(call: Call) -> tuple[DatabaseStatus | None, list[Node]]:
    queries = call.context.database
    with suppress(StorageError), trio.move_on_after(DATABASE_SECONDS):
        began = trio.current_time()
        await queries.check()
        latency = trio.current_time() - began
        facts = await database_facts.fetch(queries)
        nodes = await node_list.recent(queries)
        status = DatabaseStatus(
            embedded=queries.server is not None,
            version=facts.server_version,
            bytes=facts.size,
            schema=facts.schema,
            pending=max(0, len(await trio.to_thread.run_sync(migrations.load)) - facts.schema),
            latency=latency,
        )
        return status, nodes
    return None, []


def _own_number(call: Call, nodes: list[Node]) -> int | None:
    """Return the number of this server; a server that is alone is the only one that is up."""
    if call.context.home_finder is not None:
        return call.context.home_finder.node
    up = [each.number for each in nodes if each.is_up]
    return up[0] if len(up) == 1 else None


def _measure(data: Path) -> tuple[Room | None, Room | None, int]:
    memory = MemoryLimit().read()
    resident = 0
    with suppress(OSError):
        resident = int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return _disk(data), None if memory is None else Room(memory.used, memory.limit), resident


def _disk(data: Path) -> Room | None:
    # With an external database the folder may not exist.
    with suppress(OSError):
        found = disk_space(data)
        return Room(found.total - found.free, found.total)
    return None


@OPERATIONS.operation("GET", "/server/storage", answer=StorageUse, errors=(400,))
async def get_storage(call: Call) -> Response:
    """What takes room in the database and the data folder, and what grows; for administrators.

    Rows of tables are estimates of PostgreSQL: no table is counted.
    """
    ADMINISTER.require(call.caller)
    context, now = call.context, call.now
    async with call.turn:
        facts = await database_facts.fetch(context.database)
        tables = await storage_use.tables(context.database, now)
        days = await statistics.between(context.database, now - WEEK, now)
        folders, whole = await trio.to_thread.run_sync(_folders, context.settings.data)
        disk = await trio.to_thread.run_sync(_disk, context.settings.data)
    return as_json(
        StorageUse(
            database_bytes=facts.size,
            tables=tables,
            days=[DayCount(day.capture_time, day.messages_stored) for day in days],
            folders=folders,
            whole=whole,
            disk=disk,
        )
    )


def _folders(data: Path) -> tuple[list[FolderUse], bool]:
    """Return what each folder has, and whether all files were measured."""
    found = []
    left = MOST_FILES
    for name in PLACES:
        count = size = 0
        for folder, _, names in os.walk(data / name):
            measured = names[:left]
            for each in measured:
                with suppress(OSError):
                    size += (Path(folder) / each).lstat().st_size
                    count += 1
            left -= len(measured)
            if not left:
                break
        found.append(FolderUse(name, count, size))
    return found, left > 0
