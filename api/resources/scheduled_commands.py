"""Scheduled commands: saved commands that are sent at the edges of calendar windows, and their runs.

See docs/decisions/0009, docs/decisions/0018 and docs/decisions/0027. The target devices and groups are links;
actors/schedules sends the commands.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from quart import Response

from motorpool.actors.messages.changes import ScheduleChanged
from motorpool.actors.messages.scheduling import DISPATCHER, RunNow
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.batches import slices_of
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, PageSize
from motorpool.api.engine.operations import BodyRules, Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations, fetch_readable
from motorpool.api.engine.spans import Instant
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json, as_json_array
from motorpool.api.json import extended
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import commands
from motorpool.storage.records import ScheduledCommandRun
from motorpool.storage.schedules import runs, scheduled_commands
from motorpool.storage.schedules.edge_occurrences import MAX_QUEUE_MINUTES

OPERATIONS = Operations("scheduledcommands")

MAX_STEPS = 50
MAX_DELAY_SECONDS = 7 * 86_400
QUEUE_MINUTES = "queueMaxMinutes"
"""The attribute for the minutes that a command waits in the queue of an offline device."""
DEFAULT_RUNS = 200
RUN_SECONDS = 10.0
"""Timeout of the request to the dispatcher, which normally replies within three seconds."""

Reference = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class ScheduledStep(msgspec.Struct, frozen=True, rename="camel"):
    """A saved command in a list that is sent in order."""

    command_id: Reference
    """The saved command."""
    delay_seconds: Annotated[int, msgspec.Meta(ge=0, le=MAX_DELAY_SECONDS)] = 0
    """After the step before was sent; of no account for the first."""


Steps = Annotated[list[ScheduledStep], msgspec.Meta(max_length=MAX_STEPS)]


class EditableScheduledCommand(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a request body that are read; all others are ignored."""

    id: int = 0
    name: str = ""
    description: str | None = None
    calendar_id: Id = 0
    """The calendar whose windows drive it; touching events are one window."""
    active: bool = True
    """Fires with its calendar; without that only when it is run by hand."""
    on_start: Steps = []
    """Sent in order when a window starts."""
    on_end: Steps = []
    """Sent in order when a window ends, in place of what still waits from `onStart`; if empty, that stays."""
    attributes: dict[str, Any] = {}
    """`queueMaxMinutes`: minutes for which a command is queued for a device that is offline, 0 to 43200; the
    command is skipped if this is absent or 0. A command of `onStart` may arrive after the window if this is
    longer than the window and `onEnd` is empty."""


class ScheduledCommand(EditableScheduledCommand, frozen=True, rename="camel"):
    """Saved commands that are sent at the starts and ends of the windows of a calendar."""

    device_ids: list[int] = []
    """Devices linked to it; changed by `/permissions`."""
    group_ids: list[int] = []
    """Groups linked to it: every device in them, and in the groups below them, counts; changed by
    `/permissions`."""
    last_run: datetime | None = None
    """When it last ran; null is never."""
    owner_id: int = 0
    """The user with whose rights its steps are sent; 0 if they were deleted: all steps are skipped then
    (`no_permission`) until somebody saves it, who becomes its owner."""

    @property
    def steps(self) -> dict[str, ScheduledStep]:
        """All steps by their path in the body, such as `onStart[0]`."""
        lists = {"onStart": self.on_start, "onEnd": self.on_end}
        return {f"{name}[{index}]": step for name, steps in lists.items() for index, step in enumerate(steps)}


READ_ONLY = ("device_ids", "group_ids", "last_run", "owner_id")


class ScheduledCommandPolicy(LinkedPolicy[ScheduledCommand]):
    """Starts and stops watching calendars in the transaction of the change that requires it."""

    distinguishes_missing = frozenset({"GET", "PUT"})

    def __init__(self) -> None:
        super().__init__(
            scheduled_commands.TABLE,
            links.USER_SCHEDULED_COMMAND,
            references={"calendar_id": plain_tables.CALENDARS},
            required=("name", "calendar_id"),
        )

    async def read(self, call: Call, shape: type[ScheduledCommand]) -> ScheduledCommand:
        """Read a body; read-only fields are ignored, whatever their values."""
        sent = await call.body(EditableScheduledCommand)
        return await self.validate(self.texts.trimmed(extended(shape, sent)))

    async def validate(self, sent: ScheduledCommand) -> ScheduledCommand:
        """Reject a body without calendar or steps, or with an invalid time in the queue."""
        if not sent.calendar_id:
            raise BadRequest("calendarId: needed")
        if not sent.on_start and not sent.on_end:
            raise BadRequest("onStart: at least one step is needed here or in onEnd")
        minutes = sent.attributes.get(QUEUE_MINUTES)
        whole = isinstance(minutes, int) and not isinstance(minutes, bool)
        if minutes is not None and not (whole and 0 <= minutes <= MAX_QUEUE_MINUTES):
            raise BadRequest(f"attributes.{QUEUE_MINUTES}: not a whole number from 0 to {MAX_QUEUE_MINUTES}")
        return sent

    async def prepare(
        self, call: Call, transaction: Queries, new: ScheduledCommand, old: ScheduledCommand | None
    ) -> ScheduledCommand:
        """Check access to the calendar and to added commands; commands that are kept are not checked."""
        new = await super().prepare(call, transaction, new, old)
        known = {step.command_id for step in (*old.on_start, *old.on_end)} if old is not None else set()
        added = {path: step.command_id for path, step in new.steps.items() if step.command_id not in known}
        accessible = await _accessible(call, transaction, set(added.values()))
        for path, command_id in added.items():
            if command_id not in accessible:
                raise BadRequest(f"{path}.commandId: no access to it, or no such")
        return new

    async def insert(self, call: Call, transaction: Queries, new: ScheduledCommand) -> ScheduledCommand:
        """Store the record; its steps are sent with the permissions of the caller."""
        stored = await super().insert(call, transaction, new)
        await scheduled_commands.set_owner(transaction, stored.id, call.caller.id, call.now)
        return stored

    async def update(
        self, call: Call, transaction: Queries, new: ScheduledCommand, old: ScheduledCommand
    ) -> ScheduledCommand | None:
        """Store the record; cancel runs on deactivation, and ignore earlier edges on activation."""
        stored = await super().update(call, transaction, new, old)
        if stored is None:
            return None
        await scheduled_commands.set_missing_owner(transaction, stored.id, call.caller.id)
        if old.active and not stored.active:
            await runs.cancel(transaction, stored.id, call.now)
        if stored.calendar_id != old.calendar_id or (stored.active and not old.active):
            await scheduled_commands.WATCHED.watch_from(transaction, stored.id, call.now)
        return stored

    async def delete(self, call: Call, transaction: Queries, old: ScheduledCommand) -> None:
        """Delete the record and cancel its runs; the history is kept but no longer listed."""
        await super().delete(call, transaction, old)
        await runs.cancel(transaction, old.id, call.now)

    async def show(self, call: Call, records: Sequence[ScheduledCommand]) -> list[ScheduledCommand]:
        """Add the links, the time of the last run and the owner to each record."""
        if not records:
            return []
        found = await scheduled_commands.links_of(call.context.database, [record.id for record in records])
        nothing = scheduled_commands.ScheduleLinks()
        return [
            extended(ScheduledCommand, record, **msgspec.structs.asdict(found.get(record.id, nothing)))
            for record in records
        ]


async def _accessible(call: Call, queries: Queries, command_ids: Iterable[int]) -> set[int]:
    """Return which of the saved commands exist and are accessible to the caller."""
    condition = Condition("id = any({0}::bigint[])", (list(command_ids),))
    user_id = None if call.caller.administrator else call.caller.id
    return set(await commands.TABLE.ids(queries, ListQuery(accessible_to=user_id, conditions=(condition,))))


SCHEDULED_COMMANDS = Resource(
    name="scheduledCommand",
    path="scheduledcommands",
    extended=ScheduledCommand,
    change=ScheduleChanged,
    policy=ScheduledCommandPolicy(),
    read_only=READ_ONLY,
)
add_resource_operations(SCHEDULED_COMMANDS, OPERATIONS)


class RunsQuery(msgspec.Struct, rename={"start": "from", "end": "to", "device_id": "deviceId"}):
    """Both ends of the span are included."""

    start: Instant | None = None
    end: Instant | None = None
    device_id: Id | None = None
    """Only runs of this device."""
    limit: PageSize = DEFAULT_RUNS
    """Maximum number of runs, the newest; 0 is 1000."""


class RunBody(msgspec.Struct):
    """Which of the two lists is sent."""

    phase: Literal["start", "end"] = "start"
    """Which list: start is `onStart`, end is `onEnd`."""


@OPERATIONS.operation(
    "GET", "/scheduledcommands/{id}/runs", query=RunsQuery, answer=list[ScheduledCommandRun]
)
async def list_scheduled_command_runs(call: Call) -> Response:
    """List the outcome of each step for each device, newest first.

    Pending steps are left out. `from` and `to` select by `time`.
    """
    query = call.query(RunsQuery)
    schedule = (await fetch_readable(call, SCHEDULED_COMMANDS)).record
    found = await runs.history(
        call.context.database,
        schedule.id,
        start=query.start,
        end=query.end,
        device_id=query.device_id,
        limit=query.limit,
    )
    return as_json(found)


@OPERATIONS.operation(
    "POST",
    "/scheduledcommands/{id}/run",
    body=RunBody,
    body_rules=BodyRules(optional=True),
    answer=list[ScheduledCommandRun],
)
async def run_scheduled_command(call: Call) -> Response:
    """Send one of the lists to all devices now, whether or not it is active, with the rights of the caller.

    Steps that the caller may not send to a device are skipped as `no_permission`.

    Returns the outcome of each step so far; delayed ones are `pending`. Without a body `onStart` is sent.
    """
    body = await call.body(RunBody) if (await call.raw_body()).strip() else RunBody()
    schedule = (await fetch_readable(call, SCHEDULED_COMMANDS)).record
    await record_action(
        call,
        call.context.database,
        "run",
        SCHEDULED_COMMANDS.name,
        schedule.id,
        attributes={"phase": body.phase},
    )
    request = RunNow(schedule.id, body.phase, call.caller.id)
    created = await call.context.system.ref(DISPATCHER).ask(request, seconds=RUN_SECONDS)
    return await as_json_array(call.in_turns(slices_of(created)))
