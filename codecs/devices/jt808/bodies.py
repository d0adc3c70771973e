"""Message bodies of JT/T 808 terminals other than locations, as attributes (docs/protocols/jt808.md)."""

from struct import iter_unpack

from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import Recording

RECORDING_FORM = ">B6s6sQBBBI"
RECORDING_BYTES = 28
_AFTER_CODE = 35
"""Bytes of IMEI and software version behind the code of 0x0102 in the 2019 form."""
_ICCID_END = 2 + 5 + 20 + 7 + 10
"""Where the ICCID of 0x0107 ends in the 2013 form: some trackers send nothing behind it."""


def text(field: bytes) -> str:
    """Decode GBK text that is padded with zeros or blanks on either side."""
    return field.decode("gbk", "replace").strip("\0 ")


def registration(body: bytes, *, is_2019: bool) -> Attributes:
    """Read 0x0100 in the forms of 2011, 2013 and 2019."""
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
    return _without_empty(
        province=province,
        city=city,
        manufacturer=maker,
        model=model,
        terminalId=terminal,
        plateColor=colour,
        plate=text(fields.rest()),
    )


def authentication(body: bytes, *, is_2019: bool) -> Attributes:
    """Read 0x0102: IMEI and software version in the 2019 form; the code may be any text."""
    if not is_2019:
        return {}
    fields = ByteReader(body)
    if not fields.remaining or fields.uint8() + _AFTER_CODE > fields.remaining:
        return {}  # the code alone, as in 2013
    fields = ByteReader(body, 1 + body[0])
    imei = text(fields.take(15))
    if imei and not imei.isdecimal():
        return {}  # in the middle of a long code
    return _without_empty(imei=imei, versionFw=text(fields.take(20)))


def authentication_code(body: bytes, *, is_2019: bool) -> str:
    """Return the code of 0x0102; in the 2019 form it has its length in front, which some leave out."""
    if is_2019 and body:
        rest = len(body) - 1 - body[0]
        if rest == 0 or rest >= _AFTER_CODE:
            return text(body[1 : 1 + body[0]])
    return text(body)


def terminal_attributes(body: bytes, *, is_2019: bool) -> Attributes:
    """Read 0x0107; in 2019 the maker has 5 or 11 bytes, whichever fills the body exactly.

    Raises:
        Truncated: not even the ICCID is there.
    """
    forms = ((11, 30, 30), (5, 30, 30), (5, 20, 7)) if is_2019 else ((5, 20, 7), (5, 8, 7))
    fallback: Attributes | None = None
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
        attributes = _without_empty(
            manufacturer=maker,
            model=model,
            terminalId=terminal,
            iccid=iccid.strip("f"),
            versionHw=hardware,
            versionFw=firmware,
        )
        if not fields.remaining:
            return attributes
        fallback = fallback or attributes
    if not is_2019 and len(body) == _ICCID_END:
        return {"iccid": body[_ICCID_END - 10 : _ICCID_END].hex().strip("f")}
    if fallback is None:
        raise Truncated(f"terminal attributes of {len(body)} bytes")
    return fallback


def recordings(body: bytes, clock: TerminalClock) -> tuple[Recording, ...]:
    """Read the records of 0x1205, whatever total it announces; records without times are skipped."""
    whole = len(body) - (len(body) - 6) % RECORDING_BYTES
    listed: list[Recording] = []
    for channel, start, end, alarm, kind, stream, memory, size in iter_unpack(RECORDING_FORM, body[6:whole]):
        start_time, end_time = clock.read(start), clock.read(end)
        if start_time is not None and end_time is not None:
            listed.append(Recording(channel, start_time, end_time, alarm, kind, stream, memory, size))
    return tuple(listed)


def media_capabilities(body: bytes) -> Attributes:
    """Read 0x1003: the codings that the terminal supports."""
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
    """Read 0x1005: the passengers who boarded and left between two times."""
    fields = ByteReader(body)
    start, end = clock.read(fields.take(6)), clock.read(fields.take(6))
    return _without_empty(
        startTime=start.isoformat() if start else "",
        endTime=end.isoformat() if end else "",
    ) | {"passengersIn": fields.uint16(), "passengersOut": fields.uint16()}


def media_event(body: bytes) -> Attributes:
    """Read 0x0800, and the beginning of 0x0801: an image, audio or video file on the terminal."""
    fields = ByteReader(body)
    return {
        "mediaId": fields.uint32(),
        "mediaKind": fields.uint8(),
        "mediaFormat": fields.uint8(),
        "event": fields.uint8(),
        "channel": fields.uint8(),
    }


def _without_empty(**fields: str | int) -> Attributes:
    """Return the fields that the terminal filled in."""
    return {name: value for name, value in fields.items() if value != ""}
