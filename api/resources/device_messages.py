"""Messages of devices, part by part (docs/protocols/common.md#explained-messages)."""

from collections.abc import Mapping
from typing import Any

import msgspec
import trio
from quart import Response

from motorpool.actors.devices.protocol_attributes import attributes_of_protocols
from motorpool.actors.gateway.explain_worker import MessageToExplain
from motorpool.actors.gateway.explaining import CannotExplain, explain_message
from motorpool.actors.gateway.traffic_log import MAX_BYTES
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.api.access import require_device
from motorpool.api.auth.rights import ADMINISTER
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import BodyRules, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.responses import as_json
from motorpool.api.json import camel
from motorpool.api.request_limits import count
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.explanation import Kind
from motorpool.storage.devices import devices

OPERATIONS = Operations("devices")

WAIT_SECONDS = 20.0
"""How long a message waits behind others."""


class DeviceMessage(msgspec.Struct, frozen=True):
    """What a device sent."""

    protocol: str
    """The protocol of the port that it came to."""
    data: str
    """One read or datagram in hexadecimal digits, at most 2,048 bytes."""


class MessagePart(msgspec.Struct, frozen=True):
    """Bytes of a message that say one thing."""

    offset: int
    """Of the first one in the message, from 0."""
    length: int
    """Number of bytes."""
    bytes: str
    """In hexadecimal digits."""
    kind: Kind
    """`value`: it says `values`. `layout`: it decides how the rest is read. `check`: a check value.
    `answer`: it returns in the answer of the server and says nothing else. `unknown`: no value of it makes a
    difference. `unexamined`: it lies behind what was examined in the limits of bytes and time."""
    values: Mapping[str, Any]
    """What it says: fields and attributes of positions, in their units, with a number before the name where
    the message has several; null is what it could say and does not say now."""


@OPERATIONS.operation(
    "POST",
    "/devices/{id}/messages/explain",
    body=DeviceMessage,
    body_rules=BodyRules(max_lengths={"data": 2 * MAX_BYTES}),
    answer=list[MessagePart],
    errors=(400, 503),
)
async def explain_device_message(call: Call) -> Response:
    """What each part of a message of a device says, decoded as the device's messages are; for administrators.

    At most 30 in a minute for each user, one after the other; each takes up to 5 s of a processor.
    """
    ADMINISTER.require(call.caller)
    sent = await call.body(DeviceMessage)
    data = _bytes_of(sent)
    await require_device(call, call.id)
    device = await devices.TABLE.fetch(call.context.database, call.id)
    rules = (await call.context.system.ref(RULE_CACHE).ask(GetRules((call.id,)))).get(call.id)
    if device is None or rules is None:
        raise ResourceNotFound("no such device")
    limits = call.context.limits
    await count(limits.explanations, str(call.caller.id), "messages to explain")
    message = MessageToExplain(
        sent.protocol,
        data,
        device.model or "",
        {**rules.protocol_attributes, **attributes_of_protocols(device.attributes)},
        rules.settings.decoder_timezone or "",
    )
    with call.until_disconnected():
        with trio.move_on_after(WAIT_SECONDS) as waiting:
            async with limits.explaining.of(call.caller.id), limits.explainers:
                waiting.deadline = float("inf")
                try:
                    parts = await explain_message(message)
                except CannotExplain as error:
                    raise Unavailable(str(error)) from None
        if waiting.cancelled_caught:
            raise Unavailable("too many messages are being explained; try again")
    return as_json(
        [
            MessagePart(
                part.offset,
                part.length,
                part.bytes,
                part.kind,
                {camel(name): value for name, value in part.values.items()},
            )
            for part in parts
        ]
    )


def _bytes_of(sent: DeviceMessage) -> bytes:
    if sent.protocol not in CODECS:
        raise BadRequest("protocol: no such protocol, see GET /server/protocols")
    try:
        data = bytes.fromhex(sent.data)
    except ValueError:
        raise BadRequest("data: is not in hexadecimal digits") from None
    if not 1 <= len(data) <= MAX_BYTES:
        raise BadRequest(f"data: has {len(data)} bytes, and may have 1 to {MAX_BYTES}")
    return data
