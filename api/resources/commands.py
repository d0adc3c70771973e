"""Commands to devices: sending, queueing, and what a device understands (docs/commands.md)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.command_log import announce_commands, handover_of
from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandOutcome,
    CommandQueued,
    CommandRefused,
    CommandSent,
    GetCommandTypes,
    SendCommand,
)
from motorpool.api.access import may_see_device, require_device, require_device_for_change
from motorpool.api.auth.rights import CANCEL_COMMANDS_OF_OTHERS, SEND_UNSAVED_COMMANDS
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.engine.operations import NO_CONTENT, Content, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.http.responses import as_json, no_content
from motorpool.api.resources.helpdesk.ticket_commands import (
    add_ticket_command,
    announce_command_removed,
    note_command_removed,
    require_agent_of_ticket,
    settle_ticket_command,
)
from motorpool.api.resources.linked_policy import may_see
from motorpool.codecs.devices import CODECS
from motorpool.storage.accounts import access, links
from motorpool.storage.database.conditions import Condition, any_of
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import command_log, commands, devices, groups
from motorpool.storage.devices.command_log import NewEntry
from motorpool.storage.devices.commands import WaitingCommand
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import Command, QueuedCommand

OPERATIONS = Operations("commands")

TEXT_TYPES = ("custom",)
"""The types of commands that can be sent as text messages."""
MAX_CONCURRENT = 8
"""Devices of a group to which a command is sent at once."""
_SPAN = ("channel", "index", "startTime", "endTime", "from", "to")
AUDITED = {
    "videoStart": ("channel", "index"),
    "videoPlayback": _SPAN,
    "videoPlaybackList": _SPAN,
}
"""The attributes of commands that the audit log has."""
MAX_AUDITED = 64
"""Characters of such a value; a longer one is left out."""
SEND_SECONDS = 10.0
"""Limit for a device actor to write to its connection or to the queue, in seconds."""


class CommandBody(msgspec.Struct, rename="camel"):
    """An inline command; or with `id` a saved one, to which only the device is added."""

    id: int = 0
    """A saved command, from which everything but the device is taken; 0 or absent: this one."""
    device_id: int = 0
    """The device; not needed with `groupId`."""
    description: str = ""
    type: Annotated[str, msgspec.Meta(max_length=128)] = ""
    """One of `GET /commands/types`; needed without `id`."""
    text_channel: bool = False
    attributes: dict[str, Any] = {}
    """What the type asks for, such as `channel`; `noQueue` refuses where the device is offline."""
    ticket_id: Id = 0
    """The ticket that it is sent for, as in the query; 0 is none."""


class CommandType(msgspec.Struct):
    """A type of command."""

    type: str
    """What a command may ask of a device."""


class SendQuery(msgspec.Struct, rename="camel"):
    """Where else than to the device of the body."""

    group_id: int | None = None
    """Send to all devices of a group that the caller may see."""
    ticket_id: Id = 0
    """The ticket that the command is sent for, whose history then says so; like `ticketId` in the body."""


class TypesQuery(msgspec.Struct, rename="camel"):
    """What one device understands."""

    device_id: int | None = None
    text_channel: bool = False


FETCHES_VIDEO = frozenset({"videoStart", "videoPlayback"})
"""Types of commands that have a device send video."""


OF_VIEWERS = frozenset(
    {"videoStart", "videoStop", "videoPlayback", "videoPlaybackControl", "videoPlaybackList"}
)
"""Types of commands that players send all the time, which are left out of the log."""


class QueueQuery(msgspec.Struct, rename="camel"):
    """Which device's queue to list."""

    device_id: int


class SendableQuery(msgspec.Struct, rename="camel"):
    """For which device."""

    device_id: int | None = None


@OPERATIONS.operation("GET", "/commands/types", query=TypesQuery, answer=list[CommandType], errors=(404,))
async def list_command_types(call: Call) -> Response:
    """Command types: all there are, or those one device understands."""
    query = call.query(TypesQuery)
    if query.device_id is None:
        every = {"custom"}.union(*(codec.commands for codec in CODECS.values()))
        return as_json([CommandType(name) for name in sorted(every)])
    await require_device(call, query.device_id)
    if query.text_channel:
        return as_json([CommandType(name) for name in TEXT_TYPES])
    return as_json([CommandType(name) for name in await _types(call, query.device_id)])


@OPERATIONS.operation("GET", "/commands/queue", query=QueueQuery, answer=list[WaitingCommand], errors=(404,))
async def list_queued_commands(call: Call) -> Response:
    """List the commands that are queued for a device, oldest first."""
    device_id = call.query(QueueQuery).device_id
    await require_device(call, device_id)
    return as_json(await commands.waiting_for(call.context.database, device_id))


@OPERATIONS.operation("DELETE", "/commands/queue/{id}", answers={204: NO_CONTENT}, errors=(400, 404))
async def cancel_queued_command(call: Call) -> Response:
    """Remove a command from the queue of its device before it is sent.

    Users who are read-only or may only send saved commands remove only what they queued themselves. A step of
    a scheduled command becomes `skipped` with the reason `not_sent`.
    """
    queued_id = call.id
    async with call.context.database.transaction() as transaction:
        queued = await commands.waiting(transaction, queued_id)
        if queued is None or not await may_see_device(call, queued.device_id):
            raise ResourceNotFound("there is no such queued command")
        if queued.user_id != call.caller.id:
            CANCEL_COMMANDS_OF_OTHERS.require(call.caller)
        gone = await commands.cancel(transaction, queued_id, call.now)
        if gone is None:
            raise ResourceNotFound("there is no such queued command")
        attributes = {"deviceId": queued.device_id, "type": queued.type, "userId": queued.user_id}
        await record_action(call, transaction, "remove", "queuedCommand", queued_id, attributes=attributes)
        await note_command_removed(call, transaction, queued_id)
    announce_command_removed(call)
    announce_commands(call.context.system, gone)
    return no_content()


@OPERATIONS.operation("GET", "/commands/send", query=SendableQuery, answer=list[Command], errors=(404,))
async def list_sendable_commands(call: Call) -> Response:
    """The caller's saved commands that fit a device."""
    query = call.query(SendableQuery)
    if query.device_id is None:
        return as_json(
            await commands.TABLE.list(call.context.database, ListQuery(accessible_to=call.caller.id))
        )
    await require_device(call, query.device_id)
    linked = ListQuery(accessible_to=call.caller.id, conditions=(await _linked_to(call, query.device_id),))
    saved = await commands.TABLE.list(call.context.database, linked)
    understood = set(await _types(call, query.device_id))
    return as_json([each for each in saved if each.type in (TEXT_TYPES if each.text_channel else understood)])


@OPERATIONS.operation(
    "POST",
    "/commands/send",
    query=SendQuery,
    body=CommandBody,
    answers={
        200: Content(shape=Command, text="Handed to the device's connection, or to the SMS gateway"),
        202: Content(shape=QueuedCommand | list[QueuedCommand], text="Kept until the device comes"),
    },
)
async def send_command(call: Call) -> Response:
    """Send a command now, or keep it for a device that is offline.

    With `ticketId`, for agents of the ticket's company, the ticket's history says what was sent, and
    what became of it.
    """
    query = call.query(SendQuery)
    # A known client sends the device id as text.
    body = await call.body(CommandBody, strict=False)
    ticket_id = query.ticket_id or body.ticket_id
    company_id = await require_agent_of_ticket(call, ticket_id) if ticket_id else 0
    command = await _command(call, body)
    if query.group_id is not None:
        if ticket_id:
            raise BadRequest("ticketId: not with groupId")
        return await _send_to_group(call, command, query.group_id)
    await require_device_for_change(call, body.device_id)
    if command.type in FETCHES_VIDEO:
        call.require_memory()
    command = msgspec.structs.replace(command, device_id=body.device_id)
    row_id = await add_ticket_command(call, company_id, ticket_id, command) if ticket_id else 0
    (log_id,) = await _log(call, command, (body.device_id,), ticket_id)
    try:
        outcome = await _send(call, command, body.device_id, ticket_command_id=row_id, log_id=log_id)
    except StatementRejected as error:
        # Its queue is full, or it has just been deleted.
        await _log_outcomes(call, {log_id: CommandRefused(str(error))})
        raise
    await _log_outcomes(call, {log_id: outcome})
    if not isinstance(outcome, CommandRefused):
        attributes = _audited(command) | ({"ticketId": ticket_id} if ticket_id else {})
        await record_action(
            call, call.context.database, "command", "device", body.device_id, attributes=attributes
        )
    if ticket_id:
        await settle_ticket_command(call, ticket_id, row_id, command, outcome)
    queued = _queued(outcome)
    return as_json(command) if queued is None else as_json(queued, 202)


def _audited(command: Command) -> dict[str, Any]:
    """Return what the audit log says of a command: of video that is fetched also which."""
    shown: dict[str, Any] = {"type": command.type}
    for name in AUDITED.get(command.type, ()):
        value = command.attributes.get(name)
        if isinstance(value, int | str) and len(str(value)) <= MAX_AUDITED:
            shown[name] = value
    return shown


async def _command(call: Call, body: CommandBody) -> Command:
    """Return the command to be sent, from storage if it is a saved one."""
    if body.id > 0:
        saved = await commands.TABLE.fetch(call.context.database, body.id)
        if saved is None or not await may_see(call, commands.TABLE, body.id):
            raise BadRequest("no access to the saved command")
        return saved
    SEND_UNSAVED_COMMANDS.require(call.caller)
    if not body.type:
        raise BadRequest("type: needed")
    return Command(
        description=body.description,
        type=body.type,
        text_channel=body.text_channel,
        attributes=body.attributes,
    )


async def _log(call: Call, command: Command, device_ids: Sequence[int], ticket_id: int = 0) -> list[int]:
    """Store that a command is about to be sent to devices; return the ids of the rows in the log, 0 for none.

    What viewers ask of cameras is not logged.
    """
    if command.type in OF_VIEWERS and not ticket_id:
        return [0] * len(device_ids)
    entries = [
        NewEntry(
            device_id=device_id,
            type=command.type,
            description=command.description,
            text_channel=command.text_channel,
            attributes=command.attributes,
            origin="TICKET" if ticket_id else "USER",
            user_id=call.caller.id,
            ticket_id=ticket_id,
        )
        for device_id in device_ids
    ]
    return await command_log.add(call.context.database, entries, call.now)


async def _log_outcomes(call: Call, outcomes: Mapping[int, CommandOutcome]) -> None:
    """Store what came of sending to devices, by rows of the log; the queue stores what it has taken."""
    results = [
        result for log_id, outcome in outcomes.items() if (result := handover_of(log_id, outcome)) is not None
    ]
    if results:
        await command_log.settle(call.context.database, results, call.now)
    announce_commands(call.context.system, outcomes)


async def _send(
    call: Call, command: Command, device_id: int, *, ticket_command_id: int = 0, log_id: int = 0
) -> CommandOutcome:
    """Send to one device; return whether it was sent, queued or refused."""
    request = SendCommand(
        type=command.type,
        attributes=command.attributes,
        text_channel=command.text_channel,
        user_id=call.caller.id,
        ticket_command_id=ticket_command_id,
        log_id=log_id,
    )
    return await call.context.system.ref(DEVICE, device_id).ask(request, seconds=SEND_SECONDS)


def _queued(outcome: CommandOutcome) -> QueuedCommand | None:
    """Return the row of the queue if the device is offline. BadRequest says why it was not sent."""
    match outcome:
        case CommandSent():
            return None
        case CommandQueued():
            return outcome.queued
        case CommandRefused():
            raise BadRequest(outcome.reason)


async def _send_to_group(call: Call, command: Command, group_id: int) -> Response:
    """Send to every visible device of the group; a device that refuses does not affect the others."""
    members = ListQuery(
        accessible_to=None if call.caller.administrator else call.caller.id,
        conditions=(access.devices_of_group(group_id),),
    )
    visible = await devices.TABLE.ids(call.context.database, members)
    if not visible:
        raise BadRequest("the group holds no device that the user may see", is_refusal=True)
    outcomes: dict[int, QueuedCommand | BadRequest | None] = {}
    logged: dict[int, CommandOutcome] = {}
    log_ids = await _log(call, command, visible)

    async def send_to_some(targets: Iterator[tuple[int, int]]) -> None:
        for device_id, log_id in targets:
            outcome = await _send(call, command, device_id, log_id=log_id)
            logged[log_id] = outcome
            try:
                outcomes[device_id] = _queued(outcome)
            except BadRequest as error:
                outcomes[device_id] = error

    remaining = iter(zip(visible, log_ids, strict=True))
    async with trio.open_nursery() as nursery:
        for _ in range(MAX_CONCURRENT):
            nursery.start_soon(send_to_some, remaining)
    await _log_outcomes(call, logged)
    queued = [outcomes[each] for each in visible if isinstance(outcomes[each], QueuedCommand)]
    refused = [
        f"device {each}: {error.text}" for each in visible if isinstance(error := outcomes[each], BadRequest)
    ]
    await record_action(
        call, call.context.database, "command", "group", group_id, attributes=_audited(command)
    )
    if len(refused) == len(visible):
        raise BadRequest(refused[0])
    return as_json(queued, 202) if queued else as_json(command)


async def _linked_to(call: Call, device_id: int) -> Condition:
    """Return the condition for saved commands linked to the device or one of its groups."""
    device = await devices.TABLE.fetch(call.context.database, device_id)
    above = (
        await groups.with_ancestors(call.context.database, device.group_id)
        if device and device.group_id
        else []
    )
    return any_of(
        links.linked_to(links.DEVICE_COMMAND, device_id),
        *(links.linked_to(links.GROUP_COMMAND, group_id) for group_id in above),
    )


async def _types(call: Call, device_id: int) -> tuple[str, ...]:
    return await call.context.system.ref(DEVICE, device_id).ask(GetCommandTypes())
