"""The reports of a terminal's complete JT/T 808 messages (docs/protocols/jt808.md#session and below)."""

from collections.abc import Callable

import msgspec

from motorpool.codecs.devices.framing import rejected
from motorpool.codecs.devices.jt808 import bodies
from motorpool.codecs.devices.jt808.commands import QUERY_ATTRIBUTES, QUERY_PARAMETERS, QUERY_POSITION, SHOOT
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.location import LOCATION_BYTES, decode_location
from motorpool.codecs.devices.jt808.parameters import read_parameters
from motorpool.codecs.devices.jt808.responses import MEDIA, MEDIA_PACKETS, REGISTRATION, make_receipt
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage, device_information
from motorpool.codecs.devices.jt808.vendors import lock_messages
from motorpool.codecs.devices.jt808.vendors import messages as vendors
from motorpool.codecs.devices.jt808.vendors.passthrough import read_passthrough
from motorpool.codecs.devices.jt808.video_commands import LIST_QUERY, PLAYBACK_REQUEST
from motorpool.codecs.errors import FrameError, Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    CommandResult,
    DeviceInformation,
    Heartbeat,
    Login,
    Logout,
    MediaFile,
    RecordingList,
    Report,
    Secret,
    SoundFormat,
)

GENERAL_RESPONSE = 0x0001
HEARTBEAT = 0x0002
UNREGISTER = 0x0003
TIME_REQUEST = 0x0004
REGISTER = 0x0100
AUTHENTICATE = 0x0102
PARAMETERS = 0x0104
ATTRIBUTES = 0x0107
LOCATION = 0x0200
POSITION_RESPONSE = 0x0201
VEHICLE_RESPONSE = 0x0500
BATCH = 0x0704
MEDIA_EVENT = 0x0800
MEDIA_UPLOAD = 0x0801
SHOOT_RESPONSE = 0x0805
PASSTHROUGH = 0x0900
MEDIA_CAPABILITIES = 0x1003
PASSENGERS = 0x1005
RECORDINGS = 0x1205
UPLOAD_DONE = 0x1206

QUERY_SOME_PARAMETERS = 0x8106
VEHICLE_CONTROL = 0x8500
QUERY_MEDIA_CAPABILITIES = 0x9003
FTP_UPLOAD = 0x9206

_Read = Callable[[TerminalMessage], list[Report]]
_RESULTS = ("ok", "failed", "bad message", "not supported")
_MEDIA_KINDS = ("image", "audio", "video")
_EXTENSIONS = ("jpg", "tif", "mp3", "wav", "wmv")
_JPEG = b"\xff\xd8"


def _general_response(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    serial, message_id, result = fields.uint16(), fields.uint16(), fields.uint8()
    reference = message.sent_commands.acknowledge(message_id, serial)
    if reference is None:
        return [Heartbeat()]
    text = _RESULTS[result] if result < len(_RESULTS) else f"result {result}"
    return [CommandResult(reference, result == 0, text)]


def _heartbeat(message: TerminalMessage) -> list[Report]:
    """Empty by the standard; small trackers send battery, %, and signal, and with three bytes a status."""
    body = message.body
    if len(body) < 3 or body[0] > 100:
        return [Heartbeat(message.receipt)]
    attributes: Attributes = {"batteryLevel": body[0], "rssi": body[1]}
    if len(body) == 3:
        attributes["status"] = body[2]
    return [DeviceInformation(attributes, receipt=message.receipt)]


def _logout(message: TerminalMessage) -> list[Report]:
    return [Logout(message.receipt)]


def _registration(message: TerminalMessage) -> list[Report]:
    receipt = make_receipt(message.identity_bits, message.message_id, message.serial, REGISTRATION)
    attributes = bodies.registration(message.body, is_2019=message.identity.is_2019)
    return [Login(message.identity.unique_ids, receipt, attributes, wants_code=True)]


def _authentication(message: TerminalMessage) -> list[Report]:
    is_2019 = message.identity.is_2019
    attributes = bodies.authentication(message.body, is_2019=is_2019)
    code = Secret(bodies.authentication_code(message.body, is_2019=is_2019))
    return [Login(message.identity.unique_ids, message.receipt, attributes, code)]


def _location(message: TerminalMessage) -> list[Report]:
    return [msgspec.structs.replace(message.location(0), receipt=message.receipt)]


def _answer_with_location(command_id: int) -> _Read:
    def read(message: TerminalMessage) -> list[Report]:
        serial = ByteReader(message.body).uint16()
        position = msgspec.structs.replace(message.location(2), receipt=message.receipt)
        reference = message.sent_commands.take(serial, command_id)
        return [position] if reference is None else [position, CommandResult(reference, ok=True, text="ok")]

    return read


def _answer_with_result(command_id: int, *texts: str, otherwise: str = "result {}") -> _Read:
    """Return the reader of an answer that begins with serial and result, 0 for success.

    `texts` are those of the first results, `otherwise` that of all others.
    """

    def read(message: TerminalMessage) -> list[Report]:
        fields = ByteReader(message.body)
        serial, result = fields.uint16(), fields.uint8()
        reference = message.sent_commands.take(serial, command_id)
        if reference is None:
            return [Heartbeat(message.receipt)]
        text = texts[result] if result < len(texts) else otherwise.format(result)
        return [CommandResult(reference, result == 0, text, message.receipt)]

    return read


def _batch(message: TerminalMessage) -> list[Report]:
    """A batch has one receipt, at the last position; a bad record does not lose the others."""
    fields = ByteReader(message.body)
    count, archived = fields.uint16(), fields.uint8() == 1
    if not count:
        return [Heartbeat(message.receipt)]
    reports: list[Report] = []
    last: int | None = None
    body, clock, items = message.body, message.clock, message.items
    words = message.model.words_of(message.identity.is_2019)
    start = 3
    for _ in range(count):
        if start + 2 > len(body):
            reports.append(rejected(f"a batch of {count} ends early", body[start:]))
            break
        size = body[start] << 8 | body[start + 1]
        start += 2
        end = min(start + size, len(body))
        try:
            reports.append(decode_location(body, start, end, clock, words, items, None, archived))
            last = len(reports) - 1
        except Truncated as error:
            reports.append(rejected(error, body[start:end]))
        start = end
    if last is None:
        raise FrameError(f"no good position in a batch of {count}")
    reports[last] = msgspec.structs.replace(reports[last], receipt=message.receipt)
    return reports


def _media_event(message: TerminalMessage) -> list[Report]:
    return [DeviceInformation(bodies.media_event(message.body), receipt=message.receipt)]


def _media_upload(message: TerminalMessage) -> list[Report]:
    event = bodies.media_event(message.body)
    content_start, position = 8 + LOCATION_BYTES, None
    is_2011 = message.body[8:10] == _JPEG and message.body[36:38] != _JPEG
    if is_2011:  # no location between header and file
        content_start = 8
    else:
        position = message.location(8, content_start)
    kind = MEDIA_PACKETS if message.subpackaged else MEDIA
    return [
        MediaFile(
            kind=_MEDIA_KINDS[event["mediaKind"]] if event["mediaKind"] < 3 else "image",
            extension=_EXTENSIONS[event["mediaFormat"]] if event["mediaFormat"] < 5 else "bin",
            content=message.body[content_start:],
            channel=event["channel"],
            position=position,
            receipt=make_receipt(
                message.identity_bits, message.message_id, message.serial, kind, event["mediaId"]
            ),
        )
    ]


def _parameters(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    serial = fields.uint16()
    fields.uint8()  # the count; the list fills the rest of the body
    return device_information(
        message, read_parameters(fields), serial, QUERY_PARAMETERS, QUERY_SOME_PARAMETERS
    )


def _attributes(message: TerminalMessage) -> list[Report]:
    attributes = bodies.terminal_attributes(message.body, is_2019=message.identity.is_2019)
    return device_information(message, attributes, None, QUERY_ATTRIBUTES)


def _capabilities(message: TerminalMessage) -> list[Report]:
    capabilities = bodies.media_capabilities(message.body)
    sound = SoundFormat(capabilities["audioCoding"], capabilities["audioFrameBytes"])
    return [sound, *device_information(message, capabilities, None, QUERY_MEDIA_CAPABILITIES)]


def _passengers(message: TerminalMessage) -> list[Report]:
    return [DeviceInformation(bodies.passengers(message.body, message.clock), receipt=message.receipt)]


def _recordings(message: TerminalMessage) -> list[Report]:
    """The answer to a list query; the answer to a playback request repeats its span and is no list."""
    serial = ByteReader(message.body).uint16()
    if len(message.body) < 6:
        raise Truncated(f"a recording list of {len(message.body)} bytes")
    found = bodies.recordings(message.body, message.clock)
    reference = message.sent_commands.take_exact(PLAYBACK_REQUEST, serial)
    if reference is not None:
        text = "ok" if found else "no recording in this span"
        return [CommandResult(reference, bool(found), text, message.receipt)]
    return [RecordingList(message.sent_commands.take(serial, LIST_QUERY), found, message.receipt)]


_READERS: dict[int, _Read] = {
    GENERAL_RESPONSE: _general_response,
    HEARTBEAT: _heartbeat,
    UNREGISTER: _logout,
    REGISTER: _registration,
    AUTHENTICATE: _authentication,
    PARAMETERS: _parameters,
    ATTRIBUTES: _attributes,
    LOCATION: _location,
    POSITION_RESPONSE: _answer_with_location(QUERY_POSITION),
    VEHICLE_RESPONSE: _answer_with_location(VEHICLE_CONTROL),
    BATCH: _batch,
    MEDIA_EVENT: _media_event,
    MEDIA_UPLOAD: _media_upload,
    SHOOT_RESPONSE: _answer_with_result(SHOOT, "ok", "failed", "no such channel"),
    PASSTHROUGH: read_passthrough,
    MEDIA_CAPABILITIES: _capabilities,
    PASSENGERS: _passengers,
    RECORDINGS: _recordings,
    UPLOAD_DONE: _answer_with_result(FTP_UPLOAD, "ok", otherwise="failed"),
    **vendors.READERS,
    **lock_messages.READERS,
}


def read_message(message: TerminalMessage) -> list[Report] | None:
    """Return the reports of a message; None for an unknown message id.

    Raises:
        CodecError: the body is malformed.
    """
    read = _READERS.get(message.message_id)
    return None if read is None else read(message)
