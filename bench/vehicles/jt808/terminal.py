"""The terminal's end of JT/T 808, for simulated vehicles, the bench and the tests.

Without I/O: each method returns the bytes to be sent, and `receive` reads what the platform sends.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from struct import Struct, pack

from motorpool.bench.vehicles.jt808.platform_messages import (
    PlatformMessage,
    ResendRequest,
    parse_platform_message,
)
from motorpool.codecs.devices.jt808.bodies import RECORDING_FORM
from motorpool.codecs.devices.jt808.frames import (
    MAX_BODY_BYTES,
    Identity,
    decode_frame,
    encode_frame,
    new_framer,
)
from motorpool.codecs.devices.jt808.parameters import write_parameters
from motorpool.codecs.devices.jt808.terminal_messages import (
    ATTRIBUTES,
    AUTHENTICATE,
    BATCH,
    GENERAL_RESPONSE,
    HEARTBEAT,
    LOCATION,
    MEDIA_CAPABILITIES,
    MEDIA_EVENT,
    MEDIA_UPLOAD,
    PARAMETERS,
    PASSENGERS,
    POSITION_RESPONSE,
    RECORDINGS,
    REGISTER,
    SHOOT_RESPONSE,
    TIME_REQUEST,
    UNREGISTER,
)
from motorpool.codecs.devices.jt808.times import BEIJING, NO_TIME, TerminalClock
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import FrameRejected, Recording

MAX_KEPT_MESSAGES = 4
"""Subpackaged messages that are kept for 0x8003."""

_FIXED = Struct(">IIIIhHH6s")
_RECORDING = Struct(RECORDING_FORM)
_STANDARD_CLOCK = TerminalClock()

IGNITION, POSITIONED, SOUTH, WEST = 1, 2, 4, 8
"""Status bits."""


def encode_packets(
    identity: Identity, message_id: int, first_serial: int, body: bytes, packet_bytes: int = MAX_BODY_BYTES
) -> list[bytes]:
    """Return a message as frames with at most `packet_bytes` of body each and consecutive serials."""
    if len(body) <= packet_bytes:
        return [encode_frame(identity, message_id, first_serial, body)]
    total = -(-len(body) // packet_bytes)
    return [
        encode_frame(
            identity,
            message_id,
            (first_serial + index) & 0xFFFF,
            body[index * packet_bytes : (index + 1) * packet_bytes],
            total,
            index + 1,
        )
        for index in range(total)
    ]


def encode_items(
    *,
    odometer_metres: float | None = None,
    fuel_litres: float | None = None,
    recorder_speed_kmh: float | None = None,
    signals: int | None = None,
    rssi: int | None = None,
    satellites: int | None = None,
    video_alarm: int | None = None,
    others: Iterable[tuple[int, bytes]] = (),
) -> bytes:
    """Return the items of a location in the order of their ids; `others`, as id and value, follow them.

    `signals` and `video_alarm` are bit masks, all other values have the unit of their name.
    """
    items = [
        pack(">BBI", 0x01, 4, round(odometer_metres / 100)) if odometer_metres is not None else b"",
        pack(">BBH", 0x02, 2, round(fuel_litres * 10)) if fuel_litres is not None else b"",
        pack(">BBH", 0x03, 2, round(recorder_speed_kmh * 10)) if recorder_speed_kmh is not None else b"",
        pack(">BBI", 0x14, 4, video_alarm) if video_alarm is not None else b"",
        pack(">BBI", 0x25, 4, signals) if signals is not None else b"",
        pack(">BBB", 0x30, 1, rssi) if rssi is not None else b"",
        pack(">BBB", 0x31, 1, satellites) if satellites is not None else b"",
        *(bytes((number, len(value))) + value for number, value in others),
    ]
    return b"".join(items)


def encode_location(
    latitude: float,
    longitude: float,
    time: datetime | None,
    *,
    speed_kmh: float = 0.0,
    course: float = 0.0,
    altitude: float = 0.0,
    ignition: bool = True,
    valid: bool = True,
    alarm: int = 0,
    status: int = 0,
    items: bytes = b"",
    clock: TerminalClock = _STANDARD_CLOCK,
) -> bytes:
    """Return the body of a location: degrees, metres, an aware time (None: zeros); `status` adds bits."""
    bits = (
        status
        | (IGNITION if ignition else 0)
        | (POSITIONED if valid else 0)
        | (SOUTH if latitude < 0 else 0)
        | (WEST if longitude < 0 else 0)
    )
    return (
        _FIXED.pack(
            alarm,
            bits,
            round(abs(latitude) * 1e6),
            round(abs(longitude) * 1e6),
            round(altitude),
            round(speed_kmh * 10),
            round(course) % 360,
            NO_TIME if time is None else clock.write(time),
        )
        + items
    )


class Terminal:
    """One terminal's stream, both ways; `phone` is in digits, `version` is 2013 or 2019."""

    def __init__(self, phone: str, version: int = 2013, *, zone: tzinfo = BEIJING) -> None:
        if version not in (2013, 2019):
            raise ValueError(f"no JT/T 808 of {version}")
        self.is_2019 = version == 2019
        self.identity = Identity.from_digits(phone, is_2019=self.is_2019)
        self.clock = TerminalClock(zone) if zone is not BEIJING else _STANDARD_CLOCK
        self.serial = 0
        """Serial of the next frame."""
        self.code = ""
        """The authentication code of the platform; empty before registration."""
        self._framer = new_framer()
        self._packets: dict[int, list[bytes]] = {}

    def message(self, message_id: int, body: bytes = b"", packet_bytes: int = MAX_BODY_BYTES) -> bytes:
        """Return a message, in packets where its body is longer than `packet_bytes`."""
        first = self.serial
        if len(body) <= packet_bytes:
            self.serial = first + 1 & 0xFFFF
            return encode_frame(self.identity, message_id, first, body)
        packets = encode_packets(self.identity, message_id, first, body, packet_bytes)
        self.serial = first + len(packets) & 0xFFFF
        while len(self._packets) >= MAX_KEPT_MESSAGES:
            del self._packets[next(iter(self._packets))]
        self._packets[first] = packets
        return b"".join(packets)

    # Session

    def register(
        self,
        *,
        plate: str = "",
        manufacturer: str = "MTRPL",
        model: str = "SIM-1",
        terminal_id: str = "0000001",
        province: int = 44,
        city: int = 300,
        plate_color: int = 1,
    ) -> bytes:
        """0x0100."""
        sizes = (11, 30, 30) if self.is_2019 else (5, 20, 7)
        texts = (manufacturer, model, terminal_id)
        body = pack(">HH", province, city) + b"".join(map(_padded, texts, sizes))
        return self.message(REGISTER, body + bytes((plate_color,)) + plate.encode("gbk"))

    def authenticate(self, *, imei: str = "", version: str = "1.0") -> bytes:
        """0x0102 with the code from the registration."""
        code = self.code.encode("gbk")
        if not self.is_2019:
            return self.message(AUTHENTICATE, code)
        body = bytes((len(code),)) + code + _padded(imei, 15) + _padded(version, 20)
        return self.message(AUTHENTICATE, body)

    def heartbeat(self) -> bytes:
        """0x0002."""
        return self.message(HEARTBEAT)

    def unregister(self) -> bytes:
        """0x0003."""
        return self.message(UNREGISTER)

    def time_request(self) -> bytes:
        """0x0004."""
        return self.message(TIME_REQUEST)

    # Positions; `encode_location` returns bodies

    def location(self, body: bytes) -> bytes:
        """0x0200."""
        return self.message(LOCATION, body)

    def batch(
        self, bodies: Sequence[bytes], *, archived: bool = True, packet_bytes: int = MAX_BODY_BYTES
    ) -> bytes:
        """0x0704."""
        content = b"".join(pack(">H", len(body)) + body for body in bodies)
        return self.message(BATCH, pack(">HB", len(bodies), archived) + content, packet_bytes)

    def passengers(self, start: datetime, end: datetime, got_in: int, got_out: int) -> bytes:
        """0x1005."""
        span = self.clock.write(start) + self.clock.write(end)
        return self.message(PASSENGERS, span + pack(">HH", got_in, got_out))

    # Files

    def media_event(self, media_id: int, channel: int = 1, *, kind: int = 0, form: int = 0) -> bytes:
        """0x0800."""
        return self.message(MEDIA_EVENT, pack(">IBBBB", media_id, kind, form, 0, channel))

    def photo(
        self,
        media_id: int,
        content: bytes,
        location: bytes,
        *,
        channel: int = 1,
        packet_bytes: int = MAX_BODY_BYTES,
    ) -> bytes:
        """0x0801: a JPEG with the location (without items) where it was taken."""
        return self.message(
            MEDIA_UPLOAD, pack(">IBBBB", media_id, 0, 0, 0, channel) + location[:28] + content, packet_bytes
        )

    # Responses to the platform

    def general_response(self, message: PlatformMessage, result: int = 0) -> bytes:
        """0x0001: 0 done, 1 failed, 2 bad message, 3 not supported."""
        return self.message(GENERAL_RESPONSE, pack(">HHB", message.serial, message.message_id, result))

    def position_response(self, message: PlatformMessage, location: bytes) -> bytes:
        """0x0201, to 0x8201."""
        return self.message(POSITION_RESPONSE, pack(">H", message.serial) + location)

    def shoot_response(self, message: PlatformMessage, media_ids: Sequence[int], result: int = 0) -> bytes:
        """0x0805, to 0x8801."""
        ids = b"".join(pack(">I", media_id) for media_id in media_ids)
        return self.message(SHOOT_RESPONSE, pack(">HBH", message.serial, result, len(media_ids)) + ids)

    def parameters(self, message: PlatformMessage, values: Mapping[int, int | str | bytes]) -> bytes:
        """0x0104, to 0x8104 and 0x8106."""
        return self.message(PARAMETERS, pack(">H", message.serial) + write_parameters(dict(values)))

    def attributes(
        self, *, manufacturer: str = "MTRPL", model: str = "SIM-1", iccid: str = "", version: str = "1.0"
    ) -> bytes:
        """0x0107, to 0x8107."""
        sizes = (11, 30, 30) if self.is_2019 else (5, 20, 7)
        names = b"".join(map(_padded, (manufacturer, model, "0000001"), sizes))
        text = version.encode("gbk")
        versions = (bytes((len(text),)) + text) * 2
        return self.message(
            ATTRIBUTES, pack(">H", 1) + names + bytes.fromhex(iccid.rjust(20, "0")) + versions + b"\x03\x01"
        )

    def media_capabilities(self, body: bytes) -> bytes:
        """0x1003, to 0x9003; `body` has ten bytes."""
        return self.message(MEDIA_CAPABILITIES, body)

    def recordings(
        self, query_serial: int, listed: Sequence[Recording], packet_bytes: int = MAX_BODY_BYTES
    ) -> bytes:
        """0x1205, to 0x9205 and, for some makers, to 0x9201."""
        records = b"".join(
            _RECORDING.pack(
                recording.channel,
                self.clock.write(recording.start_time),
                self.clock.write(recording.end_time),
                recording.alarm_flag,
                recording.type,
                recording.stream_type,
                recording.memory_type,
                recording.size,
            )
            for recording in listed
        )
        return self.message(RECORDINGS, pack(">HI", query_serial, len(listed)) + records, packet_bytes)

    def resend(self, message: ResendRequest) -> bytes:
        """Return the packets that 0x8003 lists; nothing where they are no longer kept."""
        packets = self._packets.get(message.first_serial, [])
        return b"".join(packets[index - 1] for index in message.indexes if 0 < index <= len(packets))

    def receive(self, data: bytes) -> list[PlatformMessage]:
        """Return the platform's messages that are complete with these bytes.

        Raises:
            CodecError: a frame is malformed, or addressed to another terminal.
        """
        messages: list[PlatformMessage] = []
        for content in self._framer.receive(data):
            if isinstance(content, FrameRejected):
                raise CodecError(content.error)
            frame = decode_frame(content)
            if frame.phone != self.identity.phone:
                raise CodecError(f"a frame for {frame.phone.hex()}")
            messages.append(parse_platform_message(frame, self.clock))
        return messages


def _padded(text: str, size: int) -> bytes:
    return text.encode("gbk")[:size].ljust(size, b"\0")
