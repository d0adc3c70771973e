"""Which maintenance is due of which device (docs/http-api.md#due-maintenance)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import get_args

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.rules.maintenance_due import TIME_TYPES, DueState, next_due
from motorpool.actors.rules.position_event import read_finite
from motorpool.api.access import require_device, visible_device_ids
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Count, Id, ListParameters, PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.resources.helpdesk.ticket_lists import TOTAL
from motorpool.api.resources.plain import MAINTENANCE
from motorpool.storage.accounts import access
from motorpool.storage.accounts.links import DEVICE_MAINTENANCE, GROUP_MAINTENANCE
from motorpool.storage.records import Maintenance

OPERATIONS = Operations("maintenance")

MAX_PAIRS = 100_000
"""Devices times the maintenance of each that a request looks at."""
DEVICES_AT_A_TIME = 1000
_ORDER = {state: index for index, state in enumerate(get_args(DueState))}


class DueQuery(msgspec.Struct, frozen=True, rename={"is_all": "all", "device_id": "deviceId"}):
    """Which maintenance to list."""

    is_all: bool = False
    """Administrators and managers: all maintenance there is, of the devices that they see."""
    device_id: Id | None = None
    """Only of this device."""
    state: tuple[DueState, ...] = ()
    """Only in these states."""
    limit: PageSize = 0
    """Maximum number of items; 0 is 1000."""
    offset: Count = 0
    """Number of items to skip."""


class DueMaintenance(msgspec.Struct, frozen=True, rename="camel"):
    """A maintenance of a device."""

    maintenance_id: int
    """The maintenance."""
    device_id: int
    """The device."""
    state: DueState
    """`due`: a period has gone by; `soon`: at most a tenth is left; `later`; `never`: it does not repeat;
    `unknown`: the device has not reported its attribute."""
    value: float | None
    """What the device has reported, or the time in milliseconds since 1970; null: nothing yet."""
    next: float | None
    """At which value it is due; null: never again, or unknown."""


@OPERATIONS.operation(
    "GET", "/maintenance/due", query=DueQuery, answer=list[DueMaintenance], errors=(400, 404)
)
async def list_due_maintenance(call: Call) -> Response:
    """Maintenance of the devices that the caller sees, the most urgent first.

    `X-Total-Count` says how many there are in all.
    """
    query = call.query(DueQuery)
    context = call.context
    visible = await visible_device_ids(context, call.caller)
    if query.device_id is not None:
        await require_device(call, query.device_id)
        visible = frozenset({query.device_id})
    listed = await MAINTENANCE.policy.list_query(call, ListParameters(all=query.is_all))
    async with call.turn, context.reports.slots:
        tasks = {task.id: task for task in await MAINTENANCE.policy.table.list(context.database, listed)}
        pairs = await access.properties_of_devices(
            context.database,
            DEVICE_MAINTENANCE,
            GROUP_MAINTENANCE,
            property_ids=list(tasks),
            device_ids=list(visible),
            most=MAX_PAIRS + 1,
        )
        if len(pairs) > MAX_PAIRS:
            raise BadRequest("deviceId: needed, as there are too many devices with maintenance")
        counted = await _counted(call, tasks, pairs)
        found = await trio.to_thread.run_sync(_due, tasks, pairs, counted, call.now, frozenset(query.state))
    limit = query.limit or 1000
    answer = as_json(found[query.offset : query.offset + limit])
    answer.headers[TOTAL] = str(len(found))
    return answer


async def _counted(
    call: Call, tasks: Mapping[int, Maintenance], pairs: Sequence[tuple[int, int]]
) -> Mapping[int, Mapping[str, float]]:
    """Return by device what it has reported last of the attributes that its maintenance counts."""
    kinds: dict[int, set[str]] = {}
    for task_id, device_id in pairs:
        kinds.setdefault(device_id, set()).add(tasks[task_id].type)
    directory = call.context.system.ref(DIRECTORY)
    device_ids = sorted(kinds)
    found: dict[int, dict[str, float]] = {}
    for start in range(0, len(device_ids), DEVICES_AT_A_TIME):
        some = tuple(device_ids[start : start + DEVICES_AT_A_TIME])
        for position in await directory.ask(GetLatestPositions(some)):
            values = {kind: read_finite(position.attributes.get(kind)) for kind in kinds[position.device_id]}
            found[position.device_id] = {kind: each for kind, each in values.items() if each is not None}
    return found


def _due(
    tasks: Mapping[int, Maintenance],
    pairs: Sequence[tuple[int, int]],
    counted: Mapping[int, Mapping[str, float]],
    now: datetime,
    states: frozenset[DueState],
) -> list[DueMaintenance]:
    now_milliseconds = float(round(now.timestamp() * 1000))

    def each() -> Iterator[DueMaintenance]:
        for task_id, device_id in pairs:
            task = tasks[task_id]
            value = now_milliseconds if task.type in TIME_TYPES else counted.get(device_id, {}).get(task.type)
            due = next_due(value, start=task.start, period=task.period)
            if not states or due.state in states:
                yield DueMaintenance(task_id, device_id, due.state, value, due.next)

    return sorted(each(), key=lambda item: (_ORDER[item.state], item.maintenance_id, item.device_id))
