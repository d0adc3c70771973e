"""Devices as CSV files: export, and import with a trial run (docs/devices.md#import-and-export)."""

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Literal, NamedTuple

import msgspec
import trio
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import Change, DeviceChanged, changed_fields
from motorpool.actors.words.cells import csv_lines
from motorpool.actors.words.file_names import content_disposition, file_name
from motorpool.actors.words.masking import restore_secrets
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.batches import MAX_BATCH
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import ListParameters, parameter_of, select_parameters
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.engine.text_rules import require_plain_texts
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.json import camel
from motorpool.api.resources.device_rows import (
    MAX_COLUMNS,
    WRITTEN,
    Fault,
    GroupNames,
    Row,
    UnreadableRow,
    attribute_keys,
    cells_of,
    gives_secret,
    header,
    read_device,
    read_table,
)
from motorpool.api.resources.devices import DEVICES, POLICY, exceeded_limit, limit_reached
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import devices, groups
from motorpool.storage.errors import Conflict, StatementRejected
from motorpool.storage.records import Device

OPERATIONS = Operations("devices")

Outcome = Literal["created", "updated", "unchanged", "faulty"]
CSV = "text/csv"
TAKEN = "another device has it, which may be one of somebody else"
BATCH = 50
"""Rows between which other tasks have their turn, since some are refused without waiting for anything."""
_FIELDS = {camel(name): name for name in Device.__struct_fields__}


class ImportQuery(msgspec.Struct, frozen=True, rename="camel"):
    """How a file is imported."""

    dry_run: bool = False
    """Store nothing, and say what would become of each row."""
    skip_faulty: bool = False
    """Store the rows without faults although others have some. By default all rows are stored or none."""


class ImportedRow(msgspec.Struct, frozen=True, rename="camel"):
    """What became of a row, or would."""

    row: int
    """Counted from 1, which is the header."""
    unique_id: str
    """Of the device; as in the row."""
    name: str
    """Of the device; as in the row, if it has one."""
    outcome: Outcome
    """created, updated, unchanged or faulty."""
    device_id: int = 0
    """The device; 0 for one that was not stored."""
    faults: list[Fault] = []
    """What is wrong with the row."""


class ImportResult(msgspec.Struct, frozen=True, rename="camel"):
    """What became of a file."""

    stored: bool
    """Whether anything was stored: it was no trial run, and no fault prevented it."""
    created: int
    """Rows that add a device."""
    updated: int
    """Rows that change a device."""
    unchanged: int
    """Rows of devices that are as the row says."""
    faulty: int
    """Rows with faults."""
    rows: list[ImportedRow]
    """All rows of the file."""


ExportQuery = select_parameters(
    ListParameters,
    DEVICES.list_parameters - {"limit", "offset", "refresh", "exclude_attributes"},
    name="DeviceExportQuery",
    base=msgspec.Struct,
    rename=parameter_of,
)
"""Which devices are exported: what the list of devices takes, but for pages."""


class _RolledBack(Exception):
    """Leaves a transaction of which nothing is to be stored."""


@OPERATIONS.operation(
    "GET",
    "/devices/csv",
    query=ExportQuery,
    answers={200: Content(media_type=CSV, text="The file, as an attachment")},
    errors=(400,),
)
async def export_devices(call: Call) -> Response:
    """Export devices as CSV: a row each, with a column for each attribute.

    Secrets are left out. A file can be changed and imported again.
    """
    parameters = ListParameters(**msgspec.structs.asdict(call.query(ExportQuery)))
    query = await DEVICES.policy.list_query(call, parameters)
    database = call.context.database
    async with call.turn:
        ids = await devices.TABLE.ids(database, query)
    keys: set[str] = set()
    async for some in call.in_turns(_batches(call, ids)):
        keys |= attribute_keys(some)
    names = await _group_names(call, database)
    ordered = sorted(keys)[: MAX_COLUMNS - len(header([]))]

    async def write() -> AsyncGenerator[bytes, None]:
        yield csv_lines([header(ordered)])
        async for some in call.in_turns(_batches(call, ids)):
            shown = await DEVICES.policy.show(call, some)
            yield csv_lines([cells_of(device, ordered, names) for device in shown])

    headers = {"Content-Disposition": content_disposition(file_name("devices", extension="csv"))}
    return Response(write(), 200, headers=headers, content_type=f"{CSV}; charset=utf-8")


async def _batches(call: Call, ids: Sequence[int]) -> AsyncGenerator[Sequence[Device], None]:
    for start in range(0, len(ids), MAX_BATCH):
        found = await devices.TABLE.fetch_many(call.context.database, ids[start : start + MAX_BATCH])
        for first in range(0, len(found), BATCH):
            yield found[first : first + BATCH]


async def _group_names(call: Call, queries: Queries) -> GroupNames:
    """Return the names of the groups that the caller sees."""
    seen = ListQuery() if call.caller.administrator else ListQuery(accessible_to=call.caller.id)
    return GroupNames(await groups.TABLE.list(queries, seen))


@OPERATIONS.operation(
    "POST",
    "/devices/import",
    query=ImportQuery,
    raw_media_types=(CSV,),
    answer=ImportResult,
    errors=(400,),
)
async def import_devices(call: Call) -> Response:
    """Add and change devices by a CSV file of up to 2000 rows.

    The first row has the names of the columns, of which `uniqueId` is needed. A device that has it and that
    the caller has access to is changed, in the fields that have a column; else one is added. An empty cell
    empties the field. All is stored in one transaction.
    """
    DEVICES.change_right.require(call.caller)
    query = call.query(ImportQuery)
    body = await call.raw_body()
    rows = await trio.to_thread.run_sync(read_table, body, limiter=call.context.limits.parsers)
    imported: list[ImportedRow] = []
    facts: list[Change] = []
    stored = False
    # What is committed is published, whatever the client does.
    async with call.turn:
        with trio.CancelScope(shield=True):
            try:
                async with call.context.database.transaction() as transaction:
                    await _import(call, transaction, rows, imported, facts)
                    _require_kept(query, imported)
                    stored = bool(facts)
            except _RolledBack:
                pass
            if stored:
                await publish_changes(call.context.system, *facts)
                await call.finish_change()
    if not stored:
        imported = [
            msgspec.structs.replace(each, device_id=0) if each.outcome == "created" else each
            for each in imported
        ]
    outcomes = [each.outcome for each in imported]
    counts = {name: outcomes.count(name) for name in ("created", "updated", "unchanged", "faulty")}
    return as_json(ImportResult(stored=stored, rows=imported, **counts))


def _require_kept(query: ImportQuery, imported: Sequence[ImportedRow]) -> None:
    """Raise _RolledBack unless what was stored is to stay."""
    if query.dry_run or (not query.skip_faulty and any(each.faults for each in imported)):
        raise _RolledBack


class _Room(NamedTuple):
    """For how many new devices there is room."""

    devices: int
    refusal: str
    """Why there is none for more."""


class _TooMany(Exception):
    """There is less room than was thought."""

    def __init__(self, room: _Room) -> None:
        super().__init__(room.refusal)
        self.room = room


async def _import(
    call: Call, transaction: Queries, rows: Sequence[Row], imported: list[ImportedRow], facts: list[Change]
) -> None:
    """Store the rows; what became of each is added to `imported`, and what changed to `facts`.

    Limits of devices are looked at when all is stored, since whoever adds devices below the same limit waits
    from then on. If there are too many, all is done again with as many as there is room for.
    """
    room = _Room(len(rows), "")
    to_follow = len(call.after_commit)
    while True:
        try:
            async with transaction.transaction() as savepoint:
                await _store_rows(call, savepoint, rows, room, imported, facts)
                await _require_room(call, savepoint, imported)
                return
        except _TooMany as found:
            room = found.room
            imported.clear()
            facts.clear()
            del call.after_commit[to_follow:]


async def _require_room(call: Call, transaction: Queries, imported: Sequence[ImportedRow]) -> None:
    """Raise _TooMany if there are more devices than a limit allows, and new ones among them."""
    created = sum(each.outcome == "created" for each in imported)
    if created and (exceeded := await exceeded_limit(call, transaction)):
        raise _TooMany(_Room(max(0, created - exceeded.by), limit_reached(call, exceeded)))


async def _store_rows(
    call: Call,
    transaction: Queries,
    rows: Sequence[Row],
    room: _Room,
    imported: list[ImportedRow],
    facts: list[Change],
) -> None:
    names = await _group_names(call, transaction)
    unique_ids = [row.cells["uniqueId"].strip() for row in rows]
    taken = await devices.all_by_unique_ids(transaction, unique_ids)
    # Devices of others are not locked: they would wait for as long as the import takes.
    own = await _accessible(call, transaction, [device.id for device in taken.values()])
    known = await devices.lock_by_unique_ids(
        transaction, [name for name, device in taken.items() if device.id in own]
    )
    # Rights are checked against the rows that are locked.
    own = await _accessible(call, transaction, [device.id for device in known.values()])
    first_rows: dict[str, int] = {}
    created = 0
    for index, (row, unique_id) in enumerate(zip(rows, unique_ids, strict=True)):
        if index % BATCH == 0:
            await trio.lowlevel.checkpoint()
        old = known.get(unique_id)
        first = first_rows.setdefault(unique_id, row.number)
        if unique_id and first != row.number:
            faults = [Fault("uniqueId", f"is the one of row {first} as well")]
        elif unique_id in taken and (old is None or old.id not in own):
            faults, old = [Fault("uniqueId", TAKEN)], None
        else:
            faults = []
        written = row.cells.get("name", "").strip()
        outcome: Outcome = "faulty"
        device = old
        if not faults:
            try:
                async with transaction.transaction() as savepoint:
                    full = room.refusal if created >= room.devices else ""
                    outcome, device = await _store(call, savepoint, row, old, names, facts, full)
                    created += outcome == "created"
            except (UnreadableRow, BadRequest, Conflict, StatementRejected) as error:
                faults = _faults(error)
        name = written or (device.name if device is not None else "")
        number = device.id if device is not None else 0
        imported.append(ImportedRow(row.number, unique_id, name, outcome, number, faults))


async def _store(
    call: Call,
    transaction: Queries,
    row: Row,
    old: Device | None,
    names: GroupNames,
    facts: list[Change],
    full: str,
) -> tuple[Outcome, Device]:
    """Store what a row describes, by the rules for one device. Raises UnreadableRow, BadRequest.

    `full` says why no device can be added; empty: one can.
    """
    policy = POLICY
    read = restore_secrets(read_device(row, old, names), old)
    if old is not None and not gives_secret(row) and policy.texts.trimmed(read) == old:
        return "unchanged", old
    new = await policy.prepare(call, transaction, read, old)
    require_plain_texts(new, old)
    if old is None:
        if full:
            raise BadRequest(full)
        stored = await policy.add(call, transaction, new)
        await _record(call, transaction, "create", stored.id, None, new)
        facts.append(DeviceChanged(stored.id, "created"))
        return "created", stored
    changed = await policy.update(call, transaction, new, old)
    assert changed is not None, "the row is locked"
    await _record(call, transaction, "edit", old.id, old, new)
    facts.append(DeviceChanged(old.id, "updated", changed_fields(old, new)))
    return "updated", changed


async def _record(
    call: Call, transaction: Queries, action: str, number: int, old: Device | None, new: Device
) -> None:
    attributes = {**DEVICES.policy.audited(old, new), "import": True}
    await record_action(call, transaction, action, DEVICES.name, number, attributes=attributes)


async def _accessible(call: Call, transaction: Queries, ids: Collection[int]) -> frozenset[int]:
    if call.caller.administrator:
        return frozenset(ids)
    only = Condition("id = any({0}::bigint[])", (list(ids),))
    query = ListQuery(accessible_to=call.caller.id, conditions=(only,))
    return frozenset(await devices.TABLE.ids(transaction, query))


def _faults(error: Exception) -> list[Fault]:
    """Return the faults of a row that was refused; texts of errors begin with the name of the field."""
    if isinstance(error, UnreadableRow):
        return error.faults
    if isinstance(error, Conflict):
        return [Fault("uniqueId", TAKEN)]
    text = error.text if isinstance(error, BadRequest) else str(getattr(error, "shown", error))
    name, _, rest = text.partition(": ")
    if name == "groupId":
        return [Fault("group", rest)]
    return [Fault(name, rest)] if name in _FIELDS or name in WRITTEN else [Fault("", text)]
