"""Devices: rows from the table, live fields from the directory (docs/devices.md)."""

import logging
from collections.abc import Sequence
from typing import Any

import msgspec

from motorpool.actors.devices.directory import DIRECTORY, GetDeviceStatuses
from motorpool.actors.files.media_files import media_folder, move_folder, remove_folder
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.api.access import may_see_device
from motorpool.api.engine.call import Call
from motorpool.api.engine.linked_policy import LinkedPolicy
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource, add_resource_operations
from motorpool.api.http.errors import BadRequest
from motorpool.storage import access, devices, groups, links, plain_tables, runs
from motorpool.storage.conditions import Condition, all_of, any_of
from motorpool.storage.queries import Queries
from motorpool.storage.records import Device
from motorpool.storage.tables import ListQuery, Table

__all__ = ["OPERATIONS"]

OPERATIONS = Operations("devices")

_log = logging.getLogger(__name__)

LONGEST = 128


class DevicePolicy(LinkedPolicy[Device]):
    """Checks the limit of devices and the unique id, and fills in live fields."""

    required = ("name", "unique_id")

    def max_length(self, name: str) -> int | None:
        """Limit name and unique id."""
        return LONGEST if name in self.required else None

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Build the query; with ids or unique ids other filters are ignored (docs/http-api.md#lists)."""
        if not parameters.id and not parameters.unique_id:
            return await super().list_query(call, parameters)
        named = any_of(
            Condition("id = any({0}::bigint[])", (list(parameters.id),)),
            Condition("unique_id = any({0}::text[])", (list(parameters.unique_id),)),
        )
        visible = () if call.caller.administrator else (access.devices_of_user(call.caller.id),)
        return ListQuery(
            conditions=(all_of(named, *visible),), exclude_attributes=parameters.exclude_attributes
        )

    async def find(self, call: Call, table: Table[Any], record_id: int) -> Device | None:
        """Return the row, from the cache if it is there."""
        del table
        return await call.context.devices.get(record_id) if await may_see_device(call, record_id) else None

    async def may_read(self, call: Call, record_id: int) -> bool:
        """Return what the access actor says."""
        return await may_see_device(call, record_id)

    async def prepare(self, call: Call, transaction: Queries, new: Device, old: Device | None) -> Device:
        """Check names, references, and the limit of devices."""
        for field, text in (("name", new.name), ("uniqueId", new.unique_id)):
            if not text.strip():
                raise BadRequest(f"{field}: needed")
            if len(text) > LONGEST:
                raise BadRequest(f"{field}: longer than {LONGEST} characters")
        new = msgspec.structs.replace(
            new,
            name=new.name.strip(),
            unique_id=new.unique_id.strip(),
            phone=new.phone.strip() if new.phone else new.phone,
        )
        await self.check_references(call, transaction, new, old)
        if old is None and not call.caller.administrator:
            limit = call.caller.user.device_limit
            if 0 <= limit <= len(await access.device_ids(transaction, call.caller.id)):
                raise BadRequest("the user's limit of devices is reached")
        return new

    async def delete(self, call: Call, transaction: Queries, record_id: int) -> bool:
        """Delete; pending steps of scheduled commands for it end."""
        await runs.cancel_for_device(transaction, record_id, call.now)
        return await super().delete(call, transaction, record_id)

    async def after_commit(self, call: Call, record_id: int, new: Device | None, old: Device | None) -> None:
        """Move or remove its files."""
        del record_id
        if old is not None and (new is None or new.unique_id != old.unique_id):
            await self._take_files_along(call, old, new)

    async def _take_files_along(self, call: Call, old: Device, new: Device | None) -> None:
        """Files go with their device (docs/decisions/0025): no later owner of its identity sees
        them.
        """
        media = media_folder(call.context.settings.data)
        if new is None:
            await remove_folder(media, old.unique_id)
            return
        try:
            await move_folder(media, old.unique_id, new.unique_id)
        except OSError as error:
            _log.warning("the files of device %d stay under %r: %s", new.id, old.unique_id, error)

    async def show(self, call: Call, records: Sequence[Device]) -> list[Device]:
        """Add status, last update and latest position."""
        if not records:
            return []
        ids = tuple(record.id for record in records)
        live = await call.context.system.ref(DIRECTORY).ask(GetDeviceStatuses(ids))
        shown = []
        for record in records:
            now = live.get(record.id)
            shown.append(
                msgspec.structs.replace(
                    record, status=now.status, last_update=now.last_update, position_id=now.position_id
                )
                if now
                else record
            )
        return shown


DEVICES = Resource(
    name="device",
    path="devices",
    shape=Device,
    table=devices.TABLE,
    change=DeviceChanged,
    policy=DevicePolicy(
        devices.TABLE,
        links.USER_DEVICE,
        device_link=links.DEVICE_DEVICE,
        references={"group_id": groups.TABLE, "calendar_id": plain_tables.CALENDARS},
    ),
    parameters=COMMON_PARAMETERS | {"device_id", "id", "unique_id"},
    read_only=("status", "last_update", "position_id"),
)
add_resource_operations(DEVICES, OPERATIONS)
