"""The codec of H02 trackers: text and packed decimals, over TCP and UDP (docs/protocols/h02.md)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.command_values import integer, printable
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Fixed, Framing, Line
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.numbers import parse_real, parse_whole
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    PositionReport,
    Report,
    UnknownMessage,
)
from motorpool.codecs.units import checked_coordinates, degrees

MAX_FRAME_BYTES = 4096
BINARY_BYTES = 32
"""Of a frame of packed decimals; longer ones have nothing more that is read."""
MAX_DATAGRAM_BYTES = 64
_IDENTITY = re.compile(r"[0-9A-Za-z]{1,20}")
_TIME = re.compile(r"[0-2][0-9][0-5][0-9][0-5][0-9]")
_DATE = re.compile(r"[0-3][0-9][01][0-9][0-9]{2}")
_STATUS = re.compile(r"[0-9A-Fa-f]{8}")
_DASHED = re.compile(r"-?([0-9]{1,3})-([0-9]{1,2}\.[0-9]{1,8})")
_VALIDITY: Final = {"A": True, "V": False, "B": False}
_LOCATIONS = re.compile(r"V[^,]{0,9}")
_KNOWN_LOCATIONS = re.compile(r"V[1-9]|VI[0-9]+")
_ICCID = re.compile(r"89[0-9]{16,18}[0-9A-Fa-f]?")
_CELL = re.compile(r"([2-7][0-9]{2}),([0-9]{1,3}),([0-9]{1,5}),([0-9]{1,9})(?:,|$)")
_COMMANDS: Final = {
    "alarmArm": ("SCF", "0,0"),
    "alarmDisarm": ("SCF", "1,1"),
    "engineStop": ("S20", "1,1"),
    "engineResume": ("S20", "1,0"),
}
_IGNITION = 1 << 10
_ALARM_BITS: Final = ((0, "vibration"), (1, "sos"), (18, "sos"), (2, "overspeed"), (19, "powerCut"))
"""In the order in which the first that is clear counts."""


def _is_packed(frame: bytes) -> bool:
    """Whether digits are where a frame of packed decimals has time, date and latitude."""
    digits = frame.hex()
    return digits[12:32].isdecimal() or digits[18:38].isdecimal()


class H02(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "h02"
    port = 5013
    udp = True
    commands = frozenset(("custom", "positionPeriodic", *_COMMANDS))
    framing = Framing(
        Line(b"#", start=b"*"),
        Fixed(b"$", BINARY_BYTES, accepts=_is_packed),
        Fixed(b"X", BINARY_BYTES),
        max_frame_bytes=MAX_FRAME_BYTES,
        ignored=b"\r\n",
    )

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read a text or a frame of packed decimals."""
        if frame.startswith(b"*"):
            self._read_text(frame.decode("ascii", "replace"), frame, reports)
        elif frame.startswith(b"$"):
            self._read_binary(frame, reports)

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram; a frame of packed decimals has all of it."""
        if not data.startswith(b"$") or not BINARY_BYTES <= len(data) < MAX_DATAGRAM_BYTES:
            return super().receive_datagram(data)
        return self._read((data,))

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `*HQ,<id>,…#` with the time, or the text of a `custom` command (`data`)."""
        attributes = command.attributes
        if command.type == "custom":
            return EncodedCommand(printable(attributes, "data").encode())
        if command.type == "positionPeriodic":
            seconds = integer(attributes, "frequency", None, 1, 99_999, "number of seconds")
            is_alternative = bool(self.options.get("alternative"))
            kind, values = ("D1", f"{seconds}") if is_alternative else ("S71", f"22,{seconds}")
        elif command.type in _COMMANDS:
            kind, values = _COMMANDS[command.type]
        else:
            raise UnsupportedCommand(f"h02 has no message for {command.type}")
        if self.utc_now is None:
            raise UnsupportedCommand("the time is not known")
        now = self.utc_now().astimezone(UTC)
        identity = command.unique_id or self.unique_id
        return EncodedCommand(f"*HQ,{identity},{kind},{now:%H%M%S},{values}#".encode())

    def _read_text(self, text: str, frame: bytes, reports: list[Report]) -> None:
        fields = text[1:-1].split(",")
        if len(fields) < 3:
            raise CodecError("a text without a type")
        identity, kind, values = fields[1].strip(), fields[2].strip(), fields[3:]
        if identity and not _IDENTITY.fullmatch(identity):
            raise CodecError(f"{identity[:20]!r} is no identity")
        self.identify(identity, reports)
        match kind:
            case "V0":
                reports.append(Heartbeat(f"*{','.join(fields[:3])}#".encode()))
            case "HTBT":
                self._add_heartbeat(fields, reports)
            case "SMS":
                reports.append(PositionReport({"result": ",".join(values)}, located=False))
            case "LINK":
                reports.append(_link(values))
            case "NBR":
                reports.append(_neighbours(values, self._answer("V4,NBR,%Y%m%d%H%M%S")))
            case "V3":
                reports.append(_cells(values))
            case "VP1":
                reports.append(_phone_location(values))
            case _ if _LOCATIONS.fullmatch(kind):
                answer = None
                if kind == "V1":
                    answer = self._answer("V4,V1,%Y%m%d%H%M%S")
                elif self.options.get("ack"):
                    answer = self._answer("R12,%H%M%S")
                at = _find_validity(values)
                if at is None and not _KNOWN_LOCATIONS.fullmatch(kind):
                    reports.append(UnknownMessage(frame, kind[:20]))
                else:
                    reports.append(_location(kind, values, at, answer))
            case _:
                reports.append(UnknownMessage(frame, kind[:20]))

    def _answer(self, form: str) -> bytes | None:
        """Return an answer with the time, whose place `form` shows; None where the time is not known."""
        if self.utc_now is None:
            return None
        return f"*HQ,{self.unique_id},{self.utc_now().astimezone(UTC):{form}}#".encode()

    def _add_heartbeat(self, fields: Sequence[str], reports: list[Report]) -> None:
        answer = f"*{','.join(fields[:3])}#".encode()
        level = parse_whole(fields[3]) if len(fields) > 3 else None
        if level is None:
            reports.append(Heartbeat(answer))
        else:
            reports.append(
                PositionReport({"batteryLevel": min(100, max(0, level))}, located=False, receipt=answer)
            )

    def _read_binary(self, frame: bytes, reports: list[Report]) -> None:
        digits = frame.hex()
        # Devices with an identity of 15 digits have three bytes more; a date is where theirs is.
        has_date, has_later_date = (_DATE.fullmatch(digits[at : at + 6]) is not None for at in (18, 24))
        has_long_identity = len(frame) == 42 or (has_later_date and not has_date)
        start = 18 if has_long_identity else 12
        identity = digits[2:17] if has_long_identity else digits[2:12]
        if not identity.isdecimal() or not identity.strip("0"):
            raise CodecError("an identity that is not decimal, or 0")
        time, date = digits[start : start + 6], digits[start + 6 : start + 12]
        moment = _moment(time, date)
        place = digits[start + 12 :]
        latitude, battery = place[:8], int(place[8:10], 16)
        longitude, flags = place[10:19], int(place[19], 16)
        speed, course, status = float(place[20:23]), float(place[23:26]), int(place[26:34], 16)
        self.identify(identity, reports)
        attributes: dict[str, Any] = {}
        if (level := _battery_level(battery)) is not None:
            attributes["batteryLevel"] = level
        _add_status(attributes, status)
        north, east = flags & 4, flags & 8
        position = checked_coordinates(degrees(_with_point(latitude)), degrees(_with_point(longitude)))
        answer = self._answer("R12,%H%M%S") if self.options.get("ack") else None
        reports.append(
            PositionReport(
                attributes,
                moment,
                located=bool(flags & 2 or position != (0.0, 0.0)),
                valid=bool(flags & 2),
                latitude=position[0] if north else -position[0],
                longitude=position[1] if east else -position[1],
                speed=speed,
                course=course if course <= 360 else 0.0,
                receipt=answer,
            )
        )


def _location(kind: str, values: Sequence[str], at: int | None, receipt: bytes | None) -> PositionReport:
    """Return the location whose validity stands at a place of the values."""
    if at is None:
        raise CodecError("a location without a time")
    attributes: dict[str, Any] = {}
    if kind == "V4" and at > 1:
        attributes["result"] = ",".join(values[: at - 1])
    time, validity = values[at - 1], values[at]
    latitude, longitude = checked_coordinates(
        _coordinate(values[at + 1], values[at + 2]), _coordinate(values[at + 3], values[at + 4])
    )
    speed, course = parse_real(values[at + 5]) or 0.0, parse_real(values[at + 6]) or 0.0
    rest = list(values[at + 7 :])
    if len(rest) > 1 and _DATE.fullmatch(rest[1]) and not _DATE.fullmatch(rest[0]):
        level = parse_whole(rest.pop(0))
        if level is not None and 0 <= level <= 100:
            attributes["batteryLevel"] = level
    moment = None
    if rest and _DATE.fullmatch(rest[0]):
        moment = _moment(time, rest.pop(0))
    _add_tail(attributes, rest)
    return PositionReport(
        attributes,
        moment,
        located=bool(latitude or longitude or validity == "A"),
        # A number stands for how the place is coded, which it is where there is one.
        valid=_VALIDITY.get(validity, bool(validity)),
        latitude=latitude,
        longitude=longitude,
        altitude=attributes.pop("altitude", 0.0),
        speed=speed,
        course=course if 0 <= course <= 360 else 0.0,
        network=attributes.pop("network", None),
        receipt=receipt,
    )


def _find_validity(values: Sequence[str]) -> int | None:
    """Return where the validity is, which follows a time; None where there is no location."""
    for at in range(1, len(values) - 6):
        is_place = values[at] in _VALIDITY or (values[at + 2] in ("N", "S") and values[at + 4] in ("E", "W"))
        if is_place and _TIME.fullmatch(values[at - 1]):
            return at
    if len(values) > 7 and (_TIME.fullmatch(values[0]) or (not values[0] and values[3] in ("N", "S"))):
        return 1
    return None


def _add_tail(attributes: dict[str, Any], rest: list[str]) -> None:
    """Add the status, wherever it stands, and what follows it."""
    at = next((place for place, field in enumerate(rest) if _STATUS.fullmatch(field)), None)
    if at is None:
        return
    _add_status(attributes, int(rest[at], 16))
    tail = [field.strip() for field in rest[at + 1 :]]
    numbers = [parse_real(field) for field in tail[:4]]
    if len(tail) == 6 and None not in numbers:
        odometer, temperature, fuel, altitude = (number or 0.0 for number in numbers)
        attributes |= {"odometer": int(odometer), "temp1": temperature, "fuel": fuel, "altitude": altitude}
        attributes["network"] = network_of((cell_tower(None, None, int(tail[4], 16), int(tail[5], 16)),))
        return
    for number, field in enumerate(tail, 1):
        if field:
            attributes[f"io{number}"] = field
        if _ICCID.fullmatch(field):
            attributes["iccid"] = field.rstrip("fF")
    if cell := _CELL.match(",".join(tail)):
        country, network, area, number_of_cell = (int(digits) for digits in cell.groups())
        attributes["network"] = network_of((cell_tower(country, network, area, number_of_cell),))


def _add_status(attributes: dict[str, Any], status: int) -> None:
    """Add a status word, whose bits are 0 where something is the case."""
    attributes["status"] = status
    attributes["ignition"] = bool(status & _IGNITION)
    for bit, alarm in _ALARM_BITS:
        if not status & 1 << bit:
            add_alarms(attributes, (alarm,))
            return


def _link(values: Sequence[str]) -> PositionReport:
    names = ("rssi", "sat", "batteryLevel", "steps", "turnovers")
    attributes: dict[str, Any] = {
        name: number
        for name, field in zip(names, values[1:], strict=False)
        if (number := parse_whole(field)) is not None
    }
    if not 0 <= attributes.get("batteryLevel", 0) <= 100:
        del attributes["batteryLevel"]
    _add_status_at(attributes, values, 7)
    return PositionReport(attributes, _moment(values[0], values[6]), located=False)


def _neighbours(values: Sequence[str], receipt: bytes | None) -> PositionReport:
    country, network = int(values[1]), int(values[2])
    # Some firmware counts cells that it does not send: the date is behind the last one.
    end = next((at for at in range(5, len(values) - 1) if _STATUS.fullmatch(values[at + 1])), 0)
    if not end:
        raise CodecError("cells without a date and a status")
    towers = [
        cell_tower(country, network, int(values[at]), int(values[at + 1]), int(values[at + 2]))
        for at in range(5, end - 2, 3)
    ]
    attributes: dict[str, Any] = {}
    _add_status_at(attributes, values, end + 1)
    moment = _moment(values[0], values[end])
    return PositionReport(attributes, moment, located=False, network=network_of(towers), receipt=receipt)


def _cells(values: Sequence[str]) -> PositionReport:
    operator, count = values[1], int(values[2])
    end = 3 + 4 * count
    country, network = int(operator[:3]), int(operator[3:] or 0)
    towers = [cell_tower(country, network, int(values[at]), int(values[at + 1])) for at in range(3, end, 4)]
    attributes: dict[str, Any] = {"battery": int(values[end], 16)}
    _add_status_at(attributes, values, end + 4)
    moment = _moment(values[0], values[end + 3])
    return PositionReport(attributes, moment, located=False, network=network_of(towers))


def _phone_location(values: Sequence[str]) -> PositionReport:
    if values[0] != "V":
        latitude, longitude = _coordinate(values[1], values[2]), _coordinate(values[3], values[4])
        checked_coordinates(latitude, longitude)
        course = parse_real(values[6]) or 0.0
        date = datetime.strptime(values[7], "%d%m%y").replace(tzinfo=UTC)
        return PositionReport(
            {},
            date,
            valid=True,
            latitude=latitude,
            longitude=longitude,
            speed=parse_real(values[5]) or 0.0,
            course=course if 0 <= course <= 360 else 0.0,
        )
    country, network = int(values[1]), int(values[2])
    towers = []
    for cell in ",".join(values[3:]).removesuffix("Y").split("Y"):
        area, number, rssi = cell.split(",")[:3]
        towers.append(cell_tower(country, network, int(area), int(number), int(rssi)))
    return PositionReport({}, located=False, network=network_of(towers))


def _add_status_at(attributes: dict[str, Any], values: Sequence[str], at: int) -> None:
    if len(values) > at and _STATUS.fullmatch(values[at]):
        _add_status(attributes, int(values[at], 16))


def _moment(time: str, date: str) -> datetime | None:
    """Return the time; None where there is no such one: that of the server counts."""
    try:
        return datetime.strptime(date + time, "%d%m%y%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _coordinate(text: str, hemisphere: str) -> float:
    text = text.strip()
    if found := _DASHED.fullmatch(text):
        whole, _, fraction = found[2].partition(".")
        text = f"{found[1]}{whole:0>2}.{fraction}"
    elif text.isdecimal() and len(text) > 4:
        text = _with_point(text)
    return degrees(text, hemisphere) if text else 0.0


def _with_point(digits: str) -> str:
    """Put the point before the four decimals of the minutes."""
    return f"{digits[:-4]}.{digits[-4:]}"


def _battery_level(value: int) -> int | None:
    if 1 <= value <= 6:
        return (value - 1) * (10 if value <= 3 else 20)
    if 7 <= value <= 100:
        return value
    return value - 0xF0 if 0xF1 <= value <= 0xF6 else None
