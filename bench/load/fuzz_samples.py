"""Messages that are right, for the scenario `fuzz` to mutate: what each port expects."""

import base64
import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from urllib.parse import quote

import msgspec

from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_items, encode_location
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers import new_tracker
from motorpool.codecs.devices.jt808.frames import decode_frame, new_framer
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit, AudioCoding

CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\nBEGIN:VEVENT\r\nUID:1@bench\r\n"
    "DTSTART;TZID=Europe/Berlin:20260105T080000\r\nDTEND;TZID=Europe/Berlin:20260105T170000\r\n"
    "RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE;UNTIL=20270101T000000Z\r\nEXDATE:20260106T080000\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
AREAS = (
    "CIRCLE (52.5 13.4, 500)",
    "POLYGON ((52.5 13.4, 52.6 13.4, 52.6 13.5, 52.5 13.4))",
    "LINESTRING (52.5 13.4, 52.6 13.5)",
)
EXPRESSIONS = (
    "speed > 10 ? 'fast' : 'slow'",
    "attributes.odometer / 1000 + math.max(1, 2)",
    "(ignition && !motion) || (rpm =~ '[0-9]+')",
    "driverUniqueId.substring(1, 3).toUpperCase()",
)
_MEDIA_IDS = (
    (0x0800, "00000001000000010101"),
    (0x0704, "00010100"),
    (0x0900, "f1010203"),
    (0x1210, "30303030303030" + "00" * 60),
    (0x1211, "0866696c652e6a70670000000400"),
    (0x1212, "0866696c652e6a706700000004"),
    (0x1206, "000100"),
    (0x0500, "0001"),
    (0x0702, "01260101120000"),
)


class HttpRequest(msgspec.Struct, frozen=True):
    """A request of HTTP/1.1."""

    method: str
    target: str
    body: str = ""
    """Empty for none."""
    content_type: str = "application/json"

    def mutated(self, source: random.Random, change: Callable[[random.Random, str], str]) -> "HttpRequest":
        """Return it with its query, its path or its body changed."""
        target, body = self.target, self.body
        path, separator, query = target.partition("?")
        # An edit of another device would disturb the terminals that behave.
        if body and (self.method == "PUT" or source.random() < 0.8):
            body = _changed_json(source, body, change) if source.random() < 0.6 else change(source, body)
        elif separator:
            target = f"{path}?{change(source, query)}"
        else:
            head, _, last = path.rpartition("/")
            target = f"{head}/{change(source, last)}"
        return msgspec.structs.replace(self, target=target, body=body)

    def encode(self, host: str, headers: Mapping[str, str] | None = None) -> bytes:
        """Return its bytes; what may not stand in a request line is percent-encoded."""
        target = quote(self.target, safe="/?&=%+-._~:;,@!$'()*[]", errors="surrogatepass")
        content = self.body.encode("utf-8", "surrogatepass")
        lines = [f"{self.method} {target} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if content:
            lines += [f"Content-Type: {self.content_type}", f"Content-Length: {len(content)}"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def _changed_json(source: random.Random, body: str, change: Callable[[random.Random, str], str]) -> str:
    """Change one value of a JSON object, which stays JSON; another body as `change` does."""
    try:
        content = json.loads(body)
    except ValueError:
        return change(source, body)
    name = source.choice(sorted(content))
    if source.random() < 0.5:
        content[name] = change(source, str(content[name]))
    else:
        others: tuple[object, ...] = (None, -1, 2**63, 1e308, True, [], {}, [[]], {"a\0": "\ud800"}, "", "\0")
        content[name] = source.choice(others)
    return json.dumps(content)


@cache
def terminal_messages(phone: str, *, is_2019: bool) -> list[tuple[int, int, bytes]]:
    """Return message id, serial and body of a message of each kind; the first one logs the terminal in."""
    terminal = Terminal(phone, 2019 if is_2019 else 2013)
    terminal.code = "bench"
    now = datetime.now(UTC)
    items = encode_items(
        odometer_metres=123_400,
        fuel_litres=40,
        signals=1,
        rssi=20,
        satellites=9,
        others=((0x64, bytes(47)), (0x65, bytes(47)), (0x70, bytes(47)), (0xEB, b"\0\x04\0\x2d\0\0")),
    )
    body = encode_location(52.5, 13.4, now, items=items)
    stream = b"".join(
        (
            terminal.authenticate(),
            terminal.register(plate="B-MP 1"),
            terminal.heartbeat(),
            terminal.time_request(),
            terminal.location(body),
            terminal.batch([body, body]),
            terminal.passengers(now - timedelta(minutes=5), now, 3, 2),
            terminal.media_event(1),
            terminal.photo(1, b"\xff\xd8" + bytes(200) + b"\xff\xd9", body),
            terminal.attributes(iccid="1234567890"),
            terminal.media_capabilities(bytes(10)),
            *(terminal.message(number, bytes.fromhex(digits)) for number, digits in _MEDIA_IDS),
            *(terminal.message(number, bytes(40)) for number in (0x0001, 0x0104, 0x0201, 0x0805, 0x1205)),
            terminal.unregister(),
        )
    )
    frames = [decode_frame(content) for content in new_framer().receive(stream) if isinstance(content, bytes)]
    return [(frame.message_id, frame.serial, frame.body) for frame in frames]


@cache
def media_streams(phone: str) -> list[bytes]:
    """Return media packets of some pictures and sounds for channel 1, in several codings."""
    sps = bytes.fromhex("6764001eacd940a02ff97011000003000100000300320f162d96")
    pps = bytes.fromhex("68ebe3cb22c0")
    key = b"".join(b"\0\0\0\1" + unit for unit in (sps, pps, b"\x65\x88\x84" + bytes(range(1, 200)) * 8))
    delta = b"\0\0\0\1\x41\x9a" + bytes(range(1, 120))
    hevc = b"".join(
        b"\0\0\0\1" + bytes.fromhex(unit)
        for unit in (
            "40010c01ffff01600000030090000003000003003cba0240",
            "42010101600000030090000003000003003ca00a080f165ba4a4c2f0168080000003008000000c84",
            "4401c172b46240",
            "2601af0876",
        )
    )
    made = []
    for coding, pictures in ((H264, (key, delta, delta)), (H265, (hevc, hevc))):
        for sound in (AudioCoding.G711A, AudioCoding.G726, AudioCoding.ADPCM, AudioCoding.AAC):
            sender = Jt1078Sender(phone)
            packets = []
            for number, picture in enumerate(pictures * 3):
                at = 1_700_000_000_000 + number * 40
                is_key = picture in (key, hevc)
                packets.append(sender.encode(AccessUnit(1, coding, is_key, at, picture, 40)))
                packets.append(sender.encode(AccessUnit(1, sound, False, at, bytes(range(160)))))
            made.append(b"".join(packets))
    return made


@cache
def tracker_messages(protocol: str, unique_id: str, model: str) -> list[bytes]:
    """Return the login of a tracker, which may be empty, then all that it sends."""
    tracker = new_tracker(protocol, unique_id, model)
    state = VehicleState(52.5, 13.4, 12.0, 92.0, 12_345.0, 0.0, 0.0)
    login = tracker.login()
    others = (login, tracker.heartbeat(), tracker.position(datetime.now(UTC), state))
    return [login, *filter(None, others)]


@cache
def osmand_requests() -> list[HttpRequest]:
    """Return requests of each form."""
    query = "id=fuzz&lat=52.5&lon=13.4&timestamp=1700000000&speed=3&batt=50&alarm=sos&extra=a%20b&accuracy=5"
    location = {
        "timestamp": "2026-01-01T12:00:00Z",
        "coords": {"latitude": 52.5, "longitude": 13.4, "speed": 1, "heading": 90, "accuracy": 3},
        "is_moving": True,
        "odometer": 100,
        "event": "motionchange",
        "battery": {"level": 0.5, "is_charging": False},
        "activity": {"type": "still"},
        "extras": {"a": "b"},
    }
    return [
        HttpRequest("GET", f"/?{query}"),
        HttpRequest("POST", f"/?{query}"),
        HttpRequest("POST", "/", query, "application/x-www-form-urlencoded"),
        HttpRequest("POST", "/", json.dumps({"device_id": "fuzz", "location": location})),
        HttpRequest("POST", "/", json.dumps({"device_id": "fuzz", "location": [location, location]})),
    ]


def http_requests(device_id: int, now: datetime) -> list[HttpRequest]:
    """Return requests of the API: texts with a grammar of their own, and what reaches SQL."""
    begin, end = (now - timedelta(hours=1)).isoformat(), now.isoformat()
    span = quote(f"from={begin}&to={end}", safe="=&")
    calendar = base64.b64encode(CALENDAR.encode()).decode()
    named: list[tuple[str, Mapping[str, object]]] = [
        ("devices", {"name": "d", "uniqueId": "fuzz-1", "attributes": {"a": 1}, "category": "car"}),
        ("groups", {"name": "g", "attributes": {}}),
        ("users", {"name": "u", "email": "fuzz@example.org", "password": "long-enough-1"}),
        *(("geofences", {"name": "f", "area": area, "attributes": {}}) for area in AREAS),
        ("calendars", {"name": "c", "data": calendar, "attributes": {}}),
        *(
            (
                "attributes/computed",
                {"description": "x", "attribute": "y", "expression": one, "type": "string"},
            )
            for one in EXPRESSIONS
        ),
        ("notifications", {"type": "deviceOnline", "notificators": "mail", "always": True}),
        ("commands", {"type": "custom", "description": "x", "attributes": {"data": "x"}}),
        ("commands/send", {"deviceId": device_id, "type": "custom", "attributes": {"data": "30"}}),
        ("commands/send", {"deviceId": device_id, "type": "videoStart", "attributes": {"channel": 1}}),
        ("permissions", {"userId": 1, "deviceId": device_id}),
        ("drivers", {"name": "r", "uniqueId": "r-1"}),
        ("maintenance", {"name": "m", "type": "totalDistance", "start": 1, "period": 2}),
    ]
    return [
        *(HttpRequest("POST", f"/api/{path}", json.dumps(body)) for path, body in named),
        HttpRequest(
            "POST",
            f"/api/attributes/computed/test?deviceId={device_id}",
            json.dumps({"attribute": "y", "expression": EXPRESSIONS[0], "type": "string"}),
        ),
        HttpRequest(
            "POST", "/api/session", "email=a@example.org&password=b", "application/x-www-form-urlencoded"
        ),
        HttpRequest("PUT", f"/api/devices/{device_id}", json.dumps({"name": "d", "uniqueId": "fuzz-2"})),
        HttpRequest("GET", f"/api/devices?id={device_id}&limit=10&offset=0&all=true&keyword=fuzz"),
        HttpRequest("GET", f"/api/devices/{device_id}"),
        HttpRequest("GET", f"/api/positions?deviceId={device_id}&{span}"),
        HttpRequest("GET", "/api/positions?id=1"),
        HttpRequest("GET", f"/api/statistics?{span}"),
        HttpRequest("GET", f"/api/audit?{span}"),
        HttpRequest("GET", "/api/events/1"),
        HttpRequest("GET", f"/api/commands/types?deviceId={device_id}"),
        HttpRequest("GET", f"/api/stream/{device_id}/1/live.m3u8"),
        HttpRequest("GET", f"/api/media/{device_id}/file.jpg"),
    ]
