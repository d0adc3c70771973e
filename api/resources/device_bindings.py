"""What a device is bound to, and who else came under its name (docs/devices.md#who-a-device-is)."""

from datetime import datetime

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.api.access import require_device, require_device_for_change
from motorpool.api.auth.rights import CHANGE
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Operations
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.codecs.devices import CODECS
from motorpool.storage.devices import device_bindings, devices

OPERATIONS = Operations("devices")


class OtherLogin(msgspec.Struct, frozen=True, rename="camel"):
    """The last login of its kind under the name of the device that differed from what is known of it."""

    protocol: str
    """What it spoke."""
    reason: str
    """What differed: `protocol`, `registration`, `network` or `secret`."""
    refused: bool
    """False: it was let in, and its registration differed."""
    host: str
    """The address that it came from."""
    registration: dict[str, str] | None
    """`manufacturer`, `model` and `terminalId`, if it was a JT/T 808 registration."""
    time: datetime
    """When; one that repeats is noted once a minute."""


class DeviceBinding(msgspec.Struct, frozen=True, rename="camel"):
    """How a device reports, and who else came under its name."""

    device_id: int
    """The device."""
    protocol: str | None
    """The protocol that it is bound to; null: its next login binds it."""
    since: datetime | None
    """Since when."""
    registration: dict[str, str] | None
    """`manufacturer`, `model` and `terminalId` of its JT/T 808 registration; null: none was seen."""
    others: list[OtherLogin]
    """Logins that differed, the newest first; cleared when the device is bound anew."""


class NewBinding(msgspec.Struct, frozen=True):
    """How a device is to report from now on."""

    protocol: str | None
    """The protocol to bind it to; null: that of its next login."""


@OPERATIONS.operation("GET", "/devices/{id}/binding", answer=DeviceBinding, errors=(400,))
async def get_device_binding(call: Call) -> Response:
    """What a device is bound to, and which logins differed from it; for those who may edit the device."""
    CHANGE["device"].require(call.caller)
    await require_device(call, call.id)
    return as_json(await _binding(call))


@OPERATIONS.operation("PUT", "/devices/{id}/binding", body=NewBinding, answer=DeviceBinding, errors=(400,))
async def set_device_binding(call: Call) -> Response:
    """Bind a device to a protocol; its registration and its authentication code are learnt anew.

    Its connections are closed and log in again.
    """
    CHANGE["device"].require(call.caller)
    protocol = (await call.body(NewBinding)).protocol
    if protocol is not None and protocol not in CODECS:
        raise BadRequest("protocol: no such protocol, see GET /server/protocols")
    await require_device_for_change(call, call.id)
    if protocol is not None:
        found = (await call.context.system.ref(RULE_CACHE).ask(GetRules((call.id,)))).get(call.id)
        if found is not None and found.identity.protocols and protocol not in found.identity.protocols:
            raise BadRequest("protocol: the attribute device.protocols does not name it")
    async with call.context.database.transaction() as transaction:
        if await devices.TABLE.fetch(transaction, call.id, lock=True) is None:
            raise BadRequest("deviceId: no access to the device")
        before = (await device_bindings.of_devices(transaction, (call.id,))).get(call.id)
        await device_bindings.replace(transaction, call.id, protocol, call.now)
        change = {"before": None if before is None else before.protocol, "after": protocol}
        await record_action(call, transaction, "bind", "device", call.id, attributes={"protocol": change})
    await publish_changes(call.context.system, DeviceChanged(call.id, "updated", ("binding",)))
    return as_json(await _binding(call))


async def _binding(call: Call) -> DeviceBinding:
    database = call.context.database
    found = (await device_bindings.of_devices(database, (call.id,))).get(call.id)
    others = await device_bindings.differing(database, call.id)
    return DeviceBinding(
        device_id=call.id,
        protocol=None if found is None else found.protocol,
        since=None if found is None else found.since,
        registration=None if found is None or found.registration is None else dict(found.registration),
        others=[msgspec.convert(each, OtherLogin, from_attributes=True) for each in others],
    )
