"""What codecs, rules and the server itself put into attributes has an entry in the table."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.codecs.test_every_codec import CASES

from motorpool.bench.load.fuzz_samples import terminal_messages
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.route import VehicleState
from motorpool.bench.vehicles.trackers import TRACKERS
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.attributes import (
    ALARM_DETAILS,
    ALARMS,
    ATTRIBUTES,
    NUMBERED,
    add_alarms,
    alarm_of,
    find_attribute,
    unit_of,
)
from motorpool.codecs.reports import DeviceInformation, MediaFile, PositionReport, Report

ROOT = Path(__file__).parents[3]
DEVICES = ROOT / "codecs" / "devices"
WORD = re.compile(r"[a-z][a-zA-Z0-9]+")
COMMANDS = frozenset(command for codec in CODECS.values() for command in codec.commands)
FREE = frozenset(("osmand",))
"""Protocols whose devices name attributes as they like."""
_OTHER_WORDS = """
lat lon alt spd dir acc batt bearing heading valid timestamp deviceid id ser aid prov date timeoffset
starttimestamp filename ischarging notificationToken cell wifi time speed accuracy secret location
cog conn desc tst vac vel topic transition text sent name uext ubatt hmc ign anum rty
cellTowers cellId locationAreaCode mobileCountryCode mobileNetworkCode radioType considerIp signalStrength
wifiAccessPoints macAddress gsm mcc mnc lac signal
east north latitude longitude altitude kmh kn mph
jpg jpeg png tif bmp mp3 wav wmv mp4 avi ts h264 h265 aac amr bin txt file
http tcp answer close hex ascii gbk little replace number whole true false zone
pause resume fast rewind seek keyframes start stop forward code size span place
alarmBits statusBits alarms statuses items misses texts control parameter engine alert
help me low move stockade ac footbrake sensor on pass resetimmob
and digits letters fF ok failed bad not supported moving timeout no such recording in this to from
starts rejected ignored adas dms
unidentified unexamined unknown layout value check closed incomplete secret receipt frame located
"""
OTHER_WORDS = frozenset(_OTHER_WORDS.split())
"""Words of tables that are no attribute: parameters of requests, cells, file names, names of states.

A word that a new codec needs and that is no attribute is added here; an attribute to the table.
"""
NOT_FLOWING = (ast.Raise, ast.Compare)
"""What stands in them is no key."""
_READING = """
get find pop decode encode from_bytes to_bytes removeprefix removesuffix startswith strip partition split
getattr Literal CodecError Truncated UnsupportedCommand rejected printable integer whole_number peek
digits
"""
READING = frozenset(_READING.split())
"""Functions whose arguments are no keys."""


def strings_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts that may become keys; `#` stands for what is put into them."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, NOT_FLOWING):
            skipped.update(id(each) for each in ast.walk(node))
        elif isinstance(node, ast.match_case):
            skipped.update(id(each) for each in ast.walk(node.pattern))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            skipped.update(id(each) for each in ast.walk(node.format_spec))
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in READING:
                skipped.update(id(each) for part in node.args for each in ast.walk(part))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in node.values)
            parts = (part.value if isinstance(part, ast.Constant) else "#" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def is_made_of_entries(template: str) -> bool:
    """Whether an entry of the table begins, ends or is as the text, apart from what is put into it."""
    names = {*ATTRIBUTES, *NUMBERED}
    prefix, suffix = template.rstrip("#") + "#", template.lstrip("#")
    if template.startswith("#"):
        return any(name.endswith(suffix) for name in names)
    return any(name == template or name.startswith(prefix) for name in names)


def test_each_word_in_the_tables_of_codecs_is_an_attribute_or_no_key():
    known = ALARMS | ALARM_DETAILS.keys() | COMMANDS | OTHER_WORDS | CODECS.keys()
    unknown: dict[str, str] = {}
    for path in sorted(DEVICES.rglob("*.py")):
        if path.name == "attributes.py":
            continue
        for text in strings_of(ast.parse(path.read_text("utf-8"))):
            if re.fullmatch(r"(#|[a-z])[a-zA-Z#]*[a-z][a-zA-Z#]*", text) and "#" in text:
                if not is_made_of_entries(text):
                    unknown[text] = path.name
                continue
            words = text.split()
            if not all(WORD.fullmatch(word) for word in words):
                continue  # a sentence
            for word in words:
                if not (find_attribute(word) or word in known):
                    unknown[word] = path.name
    assert unknown == {}


def attributes_in(reports: list[Report]) -> Iterator[str]:
    for report in reports:
        position = report.position if isinstance(report, MediaFile) else report
        if isinstance(position, PositionReport | DeviceInformation):
            yield from position.attributes


@pytest.mark.parametrize("name", sorted(CODECS.keys() - FREE))
def test_each_attribute_of_the_vectors_has_an_entry(name: str):
    found = {key for stream, _ in CASES[name] for key in attributes_in(CODECS[name]().receive(stream))}
    assert found
    assert {key for key in found if find_attribute(key) is None} == set()


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_each_attribute_of_simulated_trackers_has_an_entry(name: str):
    tracker, codec = TRACKERS[name]("353358017784062"), CODECS[name]()
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
    state = VehicleState(52.5, 13.4, 12.0, 90.0, 1000.0, 0.0, 0.0)
    sent = [tracker.login(), tracker.position(moment, state), tracker.heartbeat()]
    reports = [report for data in sent if data for report in codec.receive(data)]
    assert reports
    assert {key for key in attributes_in(reports) if find_attribute(key) is None} == set()


@pytest.mark.parametrize("is_2019", [False, True])
def test_each_attribute_of_simulated_terminals_has_an_entry(is_2019: bool):
    codec, found = CODECS["jt808"](), set()
    for number, _, body in terminal_messages("13912345678", is_2019=is_2019):
        terminal = Terminal("13912345678", 2019 if is_2019 else 2013)
        found.update(attributes_in(codec.receive(terminal.message(number, body))))
    assert {"odometer", "passengersIn", "mediaKind", "audioCoding"} <= found
    assert {key for key in found if find_attribute(key) is None} == set()


def test_each_attribute_that_the_server_adds_has_an_entry():
    written = re.compile(r"\battributes\[\"(\w+)\"\] = ")
    found = {
        key
        for room in ("rules", "devices", "gateway")
        for path in sorted((ROOT / "actors" / room).rglob("*.py"))
        for key in written.findall(path.read_text("utf-8"))
    }
    assert {"distance", "totalDistance", "hours", "motion", "channel", "type"} <= found
    assert {key for key in found if find_attribute(key) is None} == set()


def test_an_entry_is_found_by_the_number_in_a_key():
    def found(key):
        entry = find_attribute(key)
        return entry and (entry.name, entry.number, entry.attribute.unit)

    assert found("temp12") == ("temp#", "12", "°C")
    assert found("tire3Pressure") == ("tire#Pressure", "3", "bar")
    assert found("battery2Level") == ("battery#Level", "2", "%")
    assert found("parameter00f3") == ("parameter#", "00f3", "")
    assert found("item0xEB0023") == ("item#", "0xEB0023", "")
    assert found("bms9a") == ("bms#", "9a", "")
    assert found("power2") == ("power2", "", "V")
    for key in ("temp", "temp123456", "tire1", "fuelPercent", "itemList", "", "1"):
        assert found(key) is None, key
    assert [unit_of(key) for key in ("fuel2", "verticalAccuracy", "tripStart", "odd")] == ["l", "m", "", ""]


def test_no_numbered_entry_stands_in_the_way_of_another():
    for key in ATTRIBUTES:
        assert key.replace("1", "#") not in NUMBERED, key


def test_alarms_are_added_in_order_and_each_once():
    attributes = {"alarm": "sos"}
    add_alarms(attributes, ("tow", "sos", "tow"))
    assert attributes == {"alarm": "sos,tow"}
    add_alarms(attributes, ("phoneUse:1", "fatigueDriving:2", "tire3SlowLeak", "phoneUse:1", "sos"))
    assert attributes == {
        "alarm": "sos,tow,general,fatigueDriving",
        "alarmDetail": "phoneUse:1,fatigueDriving:2,tire3SlowLeak",
    }
    empty: dict[str, object] = {}
    add_alarms(empty, ())
    assert empty == {}


def test_a_detail_belongs_to_an_alarm():
    assert set(ALARM_DETAILS.values()) <= ALARMS
    assert not ALARMS & ALARM_DETAILS.keys()
    assert [alarm_of(detail) for detail in ("cameraFault", "laneDeparture:2", "sos", "fatigueDriving:1")] == [
        "fault",
        "laneChange",
        "sos",
        "fatigueDriving",
    ]
    assert alarm_of("tire12PressureLow:1") == alarm_of("never heard of") == "general"
