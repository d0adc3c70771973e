"""Bodies of what JT/T 808 terminals send beside locations, as attributes (docs/protocols/jt808.md)."""

from struct import iter_unpack

from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import Recording

RECORDING_FORM = ">B6s6sQBBBI"
RECORDING_BYTES = 28


def text(field: bytes) -> str:
    """GBK, padded with zeros or blanks on either side."""
    return field.decode("gbk", "replace").strip("\0 ")


def registration(body: bytes, *, is_2019: bool) -> Attributes:
    """0x0100, in the forms of 2011, 2013 and 2019."""
    fields = ByteReader(body)
    province, city = fields.uint16(), fields.uint16()
    if is_2019:
        sizes = (11, 30, 30)
    elif fields.remaining > 33:
        sizes = (5, 20, 7)
    else:
        sizes = (5, 8, 7)
    maker, model, terminal = (text(fields.take(size)) for size in sizes)
    colour = fields.uint8()
    return _told(
        province=province,
        city=city,
        manufacturer=maker,
        model=model,
        terminalId=terminal,
        plateColor=colour,
        plate=text(fields.rest()),
    )


def authentication(body: bytes, *, is_2019: bool) -> Attributes:
    """0x0102: the 2019 form tells IMEI and software version; the code itself is not looked at."""
    if not is_2019:
        return {}
    fields = ByteReader(body)
    if not fields.remaining or fields.uint8() + 35 > fields.remaining:
        return {}  # the code alone, as in 2013
    fields = ByteReader(body, 1 + body[0])
    return _told(imei=text(fields.take(15)), versionFw=text(fields.take(20)))


def terminal_attributes(body: bytes, *, is_2019: bool) -> Attributes:
    """0x0107. In 2019 the maker's field has 5 or 11 bytes: what fills the body exactly is right."""
    forms = ((11, 30, 30), (5, 30, 30), (5, 20, 7)) if is_2019 else ((5, 20, 7), (5, 8, 7))
    found: Attributes | None = None
    for sizes in forms:
        fields = ByteReader(body, 2)
        try:
            maker, model, terminal = (text(fields.take(size)) for size in sizes)
            iccid = fields.take(10).hex()
            hardware = text(fields.take(fields.uint8()))
            firmware = text(fields.take(fields.uint8()))
            fields.take(2)  # kinds of satellites and of radio
        except Truncated:
            continue
        read = _told(
            manufacturer=maker,
            model=model,
            terminalId=terminal,
            iccid=iccid.strip("f"),
            versionHw=hardware,
            versionFw=firmware,
        )
        if not fields.remaining:
            return read
        found = found or read
    if found is None:
        raise Truncated(f"terminal attributes of {len(body)} bytes")
    return found


def recordings(body: bytes, clock: TerminalClock) -> tuple[Recording, ...]:
    """0x1205 behind its head of 6 bytes. Records count, not the announced total; without times they go."""
    whole = len(body) - (len(body) - 6) % RECORDING_BYTES
    found: list[Recording] = []
    for channel, start, end, alarm, kind, stream, memory, size in iter_unpack(RECORDING_FORM, body[6:whole]):
        start_time, end_time = clock.read(start), clock.read(end)
        if start_time is not None and end_time is not None:
            found.append(Recording(channel, start_time, end_time, alarm, kind, stream, memory, size))
    return tuple(found)


def media_capabilities(body: bytes) -> Attributes:
    """0x1003: what the terminal can code."""
    fields = ByteReader(body)
    return {
        "audioCoding": fields.uint8(),
        "audioChannels": fields.uint8(),
        "audioSampleRate": {0: 8000, 1: 22050, 2: 44100, 3: 48000}.get(fields.uint8(), 0),
        "audioSampleBits": {0: 8, 1: 16, 2: 32}.get(fields.uint8(), 0),
        "audioFrameBytes": fields.uint16(),
        "audioOutput": fields.uint8() != 0,
        "videoCoding": fields.uint8(),
        "maxAudioChannels": fields.uint8(),
        "maxVideoChannels": fields.uint8(),
    }


def passengers(body: bytes, clock: TerminalClock) -> Attributes:
    """0x1005: who got in and out between two times."""
    fields = ByteReader(body)
    start, end = clock.read(fields.take(6)), clock.read(fields.take(6))
    return _told(
        startTime=start.isoformat() if start else "",
        endTime=end.isoformat() if end else "",
    ) | {"passengersIn": fields.uint16(), "passengersOut": fields.uint16()}


def media_event(body: bytes) -> Attributes:
    """0x0800: a picture, sound or film that the terminal keeps and may upload."""
    fields = ByteReader(body)
    return {
        "mediaId": fields.uint32(),
        "mediaKind": fields.uint8(),
        "mediaFormat": fields.uint8(),
        "event": fields.uint8(),
        "channel": fields.uint8(),
    }


def _told(**fields: str | int) -> Attributes:
    """Without what the terminal left empty."""
    return {name: value for name, value in fields.items() if value != ""}
