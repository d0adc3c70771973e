"""Devices: rows from the table, live fields from the directory (docs/devices.md)."""

import logging
from collections.abc import Sequence
from functools import partial

import msgspec

from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.directory import DIRECTORY, GetDeviceStatuses
from motorpool.actors.rules.identity_rules import SECRET_KEY
from motorpool.api.access import may_see_device
from motorpool.api.device_json import encode_rows
from motorpool.api.engine.batches import Fetch
from motorpool.api.engine.call import Call
from motorpool.api.engine.checked_attributes import require_usable_attributes
from motorpool.api.engine.identity_attributes import SHOWN_KEYS, changes_identity
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.engine.text_rules import MAX_NAME_LENGTH, TextRules
from motorpool.api.engine.time_zones import DECODER_ZONE, require_time_zone
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources import quotas
from motorpool.api.resources.helpdesk.cleared_references import clear_references
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import access, limits, links
from motorpool.storage.database.conditions import Condition, all_of, any_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Versioned
from motorpool.storage.devices import device_bindings, devices, groups
from motorpool.storage.records import Device
from motorpool.storage.schedules import runs

OPERATIONS = Operations("devices")

MAX_KEPT_LIST = 10_000
"""Devices of a list whose JSON is kept."""

_log = logging.getLogger(__name__)


class DevicePolicy(LinkedPolicy[Device]):
    """Checks the limit of devices and the unique id, and fills in live fields."""

    privileged = ("unique_id", "group_id", "disabled", "expiration_time")
    audited_attributes = SHOWN_KEYS

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

    async def find(self, call: Call, record_id: int) -> Versioned[Device] | None:
        """Return the row, from the cache if it is there; the access actor knows who may read it."""
        return await call.context.devices.get(record_id) if await may_see_device(call, record_id) else None

    async def read(self, call: Call, shape: type[Device]) -> Device:
        """Read the body of a create or update; its texts are checked once the device is known."""
        return await call.body(shape)

    async def prepare(self, call: Call, transaction: Queries, new: Device, old: Device | None) -> Device:
        """Check texts, attributes and references; take the files along."""
        new = self.texts.trimmed(new)
        known = old.attributes if old is not None else {}
        require_time_zone(DECODER_ZONE, new.attributes, known)
        require_usable_attributes(call, new.attributes, known)
        new = await super().prepare(call, transaction, new, old)
        if old is not None and new.unique_id != old.unique_id:
            call.after_commit.append(partial(_move_files, call, old, new.unique_id))
        return new

    async def insert(self, call: Call, transaction: Queries, new: Device) -> Device:
        """Store, link to the creator, and check the limit of devices.

        Its row is locked last, as an import does: else one who waits for the other's identity would be waited
        for.
        """
        stored = await self.add(call, transaction, new)
        if exceeded := await exceeded_limit(call, transaction):
            raise BadRequest(limit_reached(call, exceeded))
        return stored

    async def add(self, call: Call, transaction: Queries, new: Device) -> Device:
        """Store and link to the creator, without looking at the limit of devices."""
        return await super().insert(call, transaction, new)

    async def update(self, call: Call, transaction: Queries, new: Device, old: Device) -> Device | None:
        """Store; a device that is to report in another way is bound anew by its next login.

        With another group it has what is linked to that.
        """
        if new.unique_id != old.unique_id or changes_identity(new.attributes, old.attributes):
            await device_bindings.replace(transaction, new.id, None, call.now)
        elif new.attributes.get(SECRET_KEY) != old.attributes.get(SECRET_KEY):
            await device_bindings.forget_code(transaction, new.id)
        if new.group_id in {0, old.group_id}:
            return await super().update(call, transaction, new, old)
        async with quotas.counted_devices(call, transaction, into=new.group_id, devices=[old.id]):
            return await super().update(call, transaction, new, old)

    async def delete(self, call: Call, transaction: Queries, old: Device) -> None:
        """Delete; pending steps of scheduled commands for it end, and its tickets are of no device."""
        await runs.cancel_for_device(transaction, old.id, call.now)
        await clear_references(call, transaction, "device_id", old.id, name=old.name)
        await super().delete(call, transaction, old)
        call.after_commit.append(partial(call.context.files.store.remove, old.unique_id))

    async def show(self, call: Call, records: Sequence[Device]) -> list[Device]:
        """Add status, last update and latest position."""
        if not records:
            return []
        ids = tuple([record.id for record in records])
        live = await call.context.system.ref(DIRECTORY).ask(GetDeviceStatuses(ids))
        return [live[record.id].fill_in(record) if record.id in live else record for record in records]

    def reader(self, call: Call, count: int, *, exclude_attributes: bool) -> Fetch:
        """Return what reads some of the devices of a list as JSON, from what is kept of them.

        A list that is longer would displace everything that is kept before it is asked for again: its JSON
        is made of rows.
        """
        context = call.context
        if count > MAX_KEPT_LIST:

            async def fetch_rows(ids: Sequence[int]) -> Sequence[msgspec.Raw]:
                rows = await devices.rows_with_text(
                    context.database, ids, exclude_attributes=exclude_attributes
                )
                live = await context.system.ref(DIRECTORY).ask(GetDeviceStatuses(tuple(ids)))
                return [encode_rows(rows, live, context.database.keyring)] if rows else []

            return fetch_rows

        cache = context.bare_device_json if exclude_attributes else context.device_json

        async def fetch(ids: Sequence[int]) -> Sequence[msgspec.Raw]:
            rows = await context.devices.get_many(ids)
            live = await context.system.ref(DIRECTORY).ask(GetDeviceStatuses(tuple(rows)))
            return cache.encode_all((rows[number].record, live[number]) for number in ids if number in rows)

        return fetch


async def _move_files(call: Call, old: Device, unique_id: str) -> None:
    """Files go with their device (docs/decisions/0025): no later owner of its identity sees them."""
    try:
        await call.context.files.store.move(old.unique_id, unique_id)
    except OSError as error:
        _log.warning("the files of device %d stay under %r: %s", old.id, old.unique_id, error)


async def exceeded_limit(call: Call, transaction: Queries) -> limits.Exceeded | None:
    """Return the limit, of the caller or of a manager above, that there are too many devices for."""
    if call.caller.administrator:
        return None
    return await limits.exceeded_limit(transaction, call.caller.id, "device_limit")


def limit_reached(call: Call, exceeded: limits.Exceeded) -> str:
    """Return the sentence that says so."""
    is_own = exceeded.user_id == call.caller.id
    whose = "the user's limit" if is_own else "the limit of a manager of the user"
    return f"{whose} of devices is reached"


POLICY = DevicePolicy(
    devices.TABLE,
    links.USER_DEVICE,
    filters=(links.DEVICE_DEVICE,),
    references={"group_id": groups.TABLE, "calendar_id": plain_tables.CALENDARS},
    texts=TextRules(
        {"name": MAX_NAME_LENGTH, "unique_id": MAX_NAME_LENGTH, "phone": None},
        required=("name", "unique_id"),
    ),
)
DEVICES = Resource(
    name="device",
    path="devices",
    change=DeviceChanged,
    policy=POLICY,
    parameters=COMMON_PARAMETERS | {"device_id", "id", "unique_id"},
    read_only=("status", "last_update", "position_id"),
)
add_resource_operations(DEVICES, OPERATIONS)
