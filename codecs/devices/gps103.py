"""The codec of GPS103 trackers (Coban, Xexun and others): lines of text (docs/protocols/gps103.md)."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from motorpool.codecs.devices.attributes import add_alarms, put
from motorpool.codecs.devices.command_values import printable
from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, Line
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.numbers import parse_real, parse_whole
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    MediaFile,
    PositionReport,
    Report,
    UnknownMessage,
)
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates, degrees

MAX_FRAME_BYTES = 8192
"""A part of a photo has about 2,100 characters."""
LOGIN_CHARACTERS = 30
"""A line with an IMEI that is no longer than this is a login."""
MAX_PHOTO_BYTES = 512 << 10

_ALARMS = {
    "help me": "sos",
    "low battery": "lowBattery",
    "stockade": "geofence",
    "move": "movement",
    "speed": "overspeed",
    "door alarm": "door",
    "ac alarm": "powerCut",
    "accident alarm": "accident",
    "sensor alarm": "vibration",
    "bonnet alarm": "bonnet",
    "footbrake alarm": "footBrake",
    "DTC": "fault",
}
_COMMANDS = {
    "positionSingle": "B",
    "positionStop": "D",
    "engineStop": "J",
    "engineResume": "K",
    "alarmArm": "L",
    "alarmDisarm": "M",
    "requestPhoto": "160",
}
_DIAGNOSTICS = (
    "odometer",
    "",  # the consumption of this moment
    "fuelConsumption",
    "hours",
    "obdSpeed",
    "engineLoad",
    "coolantTemp",
    "throttle",
    "rpm",
    "battery",
)
_IDENTITY = re.compile(r"[0-9A-Za-z]{1,20}")
_LOCAL_TIME = re.compile(r"(\d\d)/?(\d\d)/?(\d\d) ?(\d\d):?(\d\d)(\d\d)?")
_UTC_TIME = re.compile(r"(\d\d)(\d\d)(\d\d)(\.\d+)?")
_UNITS = ((3600, "h"), (60, "m"), (1, "s"))


class Gps103(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "gps103"
    port = 5001
    udp = True
    commands = frozenset(("custom", "positionPeriodic", *_COMMANDS))
    framing = Framing(Line(b";", b"*", b"\n"), max_frame_bytes=MAX_FRAME_BYTES, ignored=b";*\r\n")

    def __init__(self) -> None:
        super().__init__()
        self._zone: tzinfo = UTC
        self._photo_parts = 0
        """Parts that the announced photo has; 0: none was announced."""
        self._photo = bytearray()

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read one line."""
        line = frame.decode("ascii", "replace").strip(";*\r\n\t ")
        before, mark, rest = line.partition("imei:")
        if before[:1].isdigit():
            self.identify(_identity(before.split(",")[0].strip()), reports)
            reports.append(Heartbeat(b"ON"))
            if not mark:
                return
        elif not mark:
            raise CodecError("a line without an IMEI")
        elif len(line) <= LOGIN_CHARACTERS:
            self.identify(_identity(rest.split(",")[0]), reports, b"LOAD")
            return
        fields = [field.strip() for field in rest.split(",")]
        self.identify(_identity(fields[0]), reports)
        if frame.endswith(b"*") and len(fields) > 10:
            reports.append(self._alternative(fields))
        elif fields[1] == "OBD":
            reports.append(self._diagnostics(fields))
        elif fields[1] == "vr":
            self._add_photo_part(bytes.fromhex(fields[2]), reports)
        elif len(fields) < 5 or fields[4] not in ("F", "L"):
            reports.append(UnknownMessage(frame, fields[1]))
        else:
            self._regular(fields, reports)

    def set_timezone(self, zone: tzinfo | None) -> None:
        """Set the zone of local times that come without UTC; None: UTC."""
        self._zone = zone or UTC

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `**,imei:…,` and the letter of a command, or the text of a `custom` one (`data`)."""
        match command.type:
            case "custom":
                text = printable(command.attributes, "data")
            case "positionPeriodic":
                text = f"C,{_interval(command.attributes.get('frequency'))}"
            case known if known in _COMMANDS:
                text = _COMMANDS[known]
            case _:
                raise UnsupportedCommand(f"gps103 has no message for {command.type}")
        return EncodedCommand(f"**,imei:{command.unique_id or self.unique_id},{text}".encode())

    @property
    def buffered(self) -> int:
        """At most 8 KiB of an unfinished line and 512 KiB of a photo."""
        return super().buffered + len(self._photo)

    def _regular(self, fields: list[str], reports: list[Report]) -> None:
        event, phone = fields[1], fields[3]
        attributes: dict[str, Any] = {}
        self._read_event(event, phone, attributes)
        receipt = f"**,imei:{fields[0]},E;".encode() if event == "help me" else None
        if fields[4] == "L":
            reports.append(
                PositionReport(
                    attributes,
                    self._local_time(fields[2]),
                    located=False,
                    network=_cell(fields[5:]),
                    receipt=receipt,
                )
            )
            return
        moment = self._fix_time(fields[2], fields[5])
        valid = fields[6] == "A"
        tail = fields[7:]
        latitude = _take_coordinate(tail, "NS")
        longitude = _take_coordinate(tail, "EW")
        values = iter(tail)
        speed, course, altitude = (parse_real(next(values, "")) or 0.0 for _ in range(3))
        for name in ("ignition", "door"):
            flag = next(values, "")
            if flag in ("0", "1"):
                attributes[name] = flag == "1"
        for name in ("fuel1", "fuel2"):
            put(attributes, name, parse_real(next(values, "").rstrip("%")))
        put(attributes, "temp1", parse_whole(next(values, "")))
        checked_coordinates(latitude, longitude)
        reports.append(
            PositionReport(
                attributes,
                moment,
                located=valid or latitude != 0 or longitude != 0,
                valid=valid,
                latitude=latitude,
                longitude=longitude,
                altitude=altitude,
                speed=speed,
                course=course if 0 <= course <= 360 else 0.0,
                receipt=receipt,
            )
        )

    def _read_event(self, event: str, phone: str, attributes: dict[str, Any]) -> None:
        kind, _, value = event.partition(" ")
        if event in _ALARMS:
            add_alarms(attributes, (_ALARMS[event],))
        elif event in ("acc on", "acc off"):
            attributes["ignition"] = event == "acc on"
        elif event.startswith("T:"):
            add_alarms(attributes, ("temperature",))
            put(attributes, "temp1", parse_real(event[2:]))
        elif kind in ("oil", "oil1", "oil2"):
            add_alarms(attributes, ("fuelLeak",))
            put(attributes, "fuel", parse_real(value))
        elif event == "rfid":
            attributes["driverUniqueId"] = phone
        elif event.startswith("vt") and event[2:].isdecimal():
            self._photo_parts = int(event[2:])
            self._photo.clear()
        elif event and event != "tracker":
            attributes["event"] = event

    def _diagnostics(self, fields: list[str]) -> PositionReport:
        attributes: dict[str, Any] = {}
        for name, text in zip(_DIAGNOSTICS, fields[3:], strict=False):
            if name and (number := parse_real(text.removesuffix("%"))) is not None:
                attributes[name] = int(number * 3_600_000) if name == "hours" else number
        if codes := " ".join(code for code in fields[13:] if code):
            attributes["dtcs"] = codes
        return PositionReport(attributes, self._local_time(fields[2]), located=False)

    def _alternative(self, fields: list[str]) -> PositionReport:
        fields = ["" if set(field) == {"-"} else field for field in fields] + [""] * 12
        (event, sensor, voltage, time, date, rssi, fix, latitude, longitude, *rest) = fields[2:]
        speed, course, altitude, hdop, satellites, ignition, charge, error = rest[:8]
        texts = (("event", event), ("sensorId", sensor), ("error", error))
        attributes: dict[str, Any] = {name: value for name, value in texts if value}
        numbers = (("sensorVoltage", voltage), ("rssi", rssi), ("hdop", hdop), ("sat", satellites))
        for name, value in numbers:
            put(attributes, name, parse_real(value))
        for name, value in (("ignition", ignition), ("charge", charge)):
            if value in ("0", "1"):
                attributes[name] = value == "1"
        moment = None
        if len(time) == 6 and len(date) == 6:
            moment = datetime.strptime(date + time, "%d%m%y%H%M%S").replace(tzinfo=UTC)
        place = parse_real(latitude), parse_real(longitude)
        if place[0] is None or place[1] is None:
            return PositionReport(attributes, moment, located=False)
        checked_coordinates(place[0], place[1])
        angle = parse_real(course) or 0.0
        return PositionReport(
            attributes,
            moment,
            valid=fix not in ("", "0", "V"),
            latitude=place[0],
            longitude=place[1],
            speed=(parse_real(speed) or 0.0) * KNOTS_PER_KMH,
            course=angle if 0 <= angle <= 360 else 0.0,
            altitude=parse_real(altitude) or 0.0,
        )

    def _add_photo_part(self, part: bytes, reports: list[Report]) -> None:
        if not self._photo_parts:
            raise CodecError("a part of a photo that was not announced")
        self._photo += part[4:-2]
        if len(self._photo) > MAX_PHOTO_BYTES:
            self._photo_parts = 0
            self._photo.clear()
            raise CodecError(f"a photo of more than {MAX_PHOTO_BYTES} bytes")
        reports.append(Heartbeat())
        if int.from_bytes(part[:2], "little") + 1 >= self._photo_parts:
            reports.append(MediaFile("image", "jpg", bytes(self._photo)))
            self._photo_parts = 0
            self._photo.clear()

    def _local_time(self, text: str) -> datetime | None:
        """Return a local time in the zone of the device; None where it is none."""
        found = _LOCAL_TIME.match(text)
        if found is None:
            return None
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        if not month:
            return None  # before the device knows it, all digits are 0
        return datetime(2000 + year, month, day, hour, minute, second, tzinfo=self._zone).astimezone(UTC)

    def _fix_time(self, local: str, utc: str) -> datetime | None:
        """Return the time of a fix: date, hours and minutes are local, UTC gives the seconds and the zone."""
        found, exact = _LOCAL_TIME.match(local), _UTC_TIME.fullmatch(utc)
        if found is None or exact is None:
            return self._local_time(local)
        year, month, day, hour, minute, _ = (int(part or 0) for part in found.groups())
        if not month:
            return None
        zone = (hour * 60 + minute) - (int(exact[1]) * 60 + int(exact[2]))
        zone -= 1440 if zone > 720 else -1440 if zone <= -720 else 0
        moment = datetime(2000 + year, month, day, hour, minute, int(exact[3]), tzinfo=UTC)
        return moment - timedelta(minutes=zone) + timedelta(seconds=float(exact[4] or 0))


def _identity(text: str) -> str:
    if not _IDENTITY.fullmatch(text):
        raise CodecError(f"{text[:20]!r} is no IMEI")
    return text


def _take_coordinate(fields: list[str], hemispheres: str) -> float:
    """Remove a coordinate from the front, whose hemisphere stands before or after the number."""
    hemisphere = fields.pop(0) if fields[0] in hemispheres and fields[0] else ""
    number = fields.pop(0)
    if fields and fields[0] and fields[0] in hemispheres:
        hemisphere = fields.pop(0)
    return degrees(number, hemisphere) if number else 0.0


def _cell(fields: list[str]) -> dict[str, Any] | None:
    if len(fields) < 5 or not fields[2] or not fields[4]:
        return None
    return network_of([cell_tower(None, None, int(fields[2], 16), int(fields[4], 16))])


def _interval(frequency: object) -> str:
    if isinstance(frequency, int) and not isinstance(frequency, bool) and frequency > 0:
        for seconds, unit in _UNITS:
            if frequency % seconds == 0 and frequency // seconds < 100:
                return f"{frequency // seconds:02}{unit}"
    raise UnsupportedCommand("frequency must be a number of seconds, minutes or hours of at most two digits")
