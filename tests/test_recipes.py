"""Recipes of ARCHITECTURE.md, followed in a scratch copy of the code.

Each test edits the files that its row names, and one process then shows that what was added works.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("runtime", "codecs", "storage", "actors", "api", "bench")
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


class Scratch:
    """A copy of the code in which one package is edited; the others are links."""

    def __init__(self, folder: Path, edited: str) -> None:
        self.folder = folder
        self.files: set[str] = set()
        for name in PACKAGES:
            if name == edited:
                shutil.copytree(ROOT / name, folder / name)
            else:
                (folder / name).symlink_to(ROOT / name)
        (folder / ".src" / "motorpool").mkdir(parents=True)
        for name in PACKAGES:
            (folder / ".src" / "motorpool" / name).symlink_to(folder / name)

    def write(self, path: str, text: str) -> None:
        """Add a file."""
        assert not (self.folder / path).exists()
        (self.folder / path).write_text(text, encoding="utf-8")
        self.files.add(path)

    def insert(self, path: str, before: str, text: str) -> None:
        """Put `text` in front of the only place that reads `before`."""
        file = self.folder / path
        found = file.read_text(encoding="utf-8")
        assert found.count(before) == 1, (path, before)
        file.write_text(found.replace(before, text + before), encoding="utf-8")
        self.files.add(path)

    def run(self, program: str) -> str:
        """Return what a program writes that imports the copy."""
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(self.folder / ".src")},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def paths_of(recipe: str) -> set[str]:
    """Return the paths that the row of a recipe names."""
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {recipe} |")]
    return set(re.findall(r"`([a-z_]+/[A-Za-z0-9_./]*)(?:: [A-Za-z_.]+)?`", row))


def assert_named(files: set[str], recipe: str) -> None:
    """Check that the row names each file, or the folder that it lies in."""
    named = paths_of(recipe)
    unnamed = {path for path in files if path not in named and f"{os.path.dirname(path)}/" not in named}
    assert not unnamed
    assert len(files) <= 6


@pytest.fixture
def actors(tmp_path):
    return Scratch(tmp_path, "actors")


def test_a_rule_that_makes_events(actors):
    actors.write(
        "actors/rules/doors.py",
        '''"""Events of doors."""

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position


def door_events(position: Position, last: Position | None) -> list[Event]:
    """Return an event if a door was opened since `last`."""
    before = None if last is None else last.attributes.get("door")
    opened = before is False and position.attributes["door"] is True
    return [position_event("doorOpened", position)] if opened else []
''',
    )
    path = "actors/rules/event_rules.py"
    imports = "from motorpool.actors.rules.driver_change import"
    actors.insert(path, imports, "from motorpool.actors.rules.doors import door_events\n")
    call = '    if "door" in attributes:\n        found += door_events(position, last)\n'
    actors.insert(path, "    if rules.maintenances:\n", call)
    actors.insert("actors/rules/event_types.py", '    "maintenance",\n', '    "doorOpened",\n')
    catalog = "actors/words/catalogs/en.toml"
    actors.insert(catalog, 'ignitionOn = "ignition', 'doorOpened = "door opened"\n')
    assert_named(actors.files, "a rule that makes events")
    written = actors.run(
        """
from datetime import UTC, datetime, timedelta
from motorpool.actors.rules.event_rules import NOTHING_STORED
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.words.catalog import FALLBACK, catalog_of, read_catalog
from motorpool.codecs.reports import PositionReport

state, now = NOTHING_STORED, datetime(2026, 1, 1, tzinfo=UTC)
for door in (False, True, True):
    now += timedelta(seconds=10)
    report = PositionReport({"door": door}, device_time=now, fix_time=now, latitude=1.0, longitude=2.0)
    result = fold(report, state, FoldContext(7, "test", now))
    state = result.state
    print([event.type for event in result.events])
print("doorOpened" in EVENT_TYPES, "doorOpened" in catalog_of("de").texts)
print(read_catalog(FALLBACK).texts["doorOpened"].render())
"""
    )
    assert written.splitlines() == ["[]", "['doorOpened']", "[]", "True False", "door opened"]


def test_a_device_protocol(tmp_path):
    codecs = Scratch(tmp_path, "codecs")
    codecs.write(
        "codecs/devices/commas.py",
        '''"""The codec of lines of values between commas: IMEI, time, latitude, longitude."""

from datetime import datetime

from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, Line
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, PositionReport, Report


class Commas(FramedCodec):
    """The server's end of one connection."""

    name = "commas"
    port = 5999
    framing = Framing(Line(b"\\n"), max_frame_bytes=256)

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Append the position of a line."""
        unique_id, time, latitude, longitude = frame.decode("ascii").strip().split(",")
        place = {"latitude": float(latitude), "longitude": float(longitude)}
        fix_time = datetime.fromisoformat(time)
        self.identify(unique_id, reports)
        reports.append(PositionReport({}, device_time=fix_time, fix_time=fix_time, valid=True, **place))

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Refuse all commands."""
        raise UnsupportedCommand(command.type)
''',
    )
    assert_named(codecs.files, "a device protocol")
    written = codecs.run(
        """
from pathlib import Path
from motorpool.actors.settings import FleetSettings
from motorpool.actors.tree import fleet_tree
from motorpool.codecs.devices import CODECS

codec = CODECS["commas"]()
assert codec.receive(b"123456789012345,2026-01-01T00:00:00Z,1.5") == []
login, position, rejected = codec.receive(b",2.5\\n123456789012345,never,1,2\\n")
print(login.unique_ids, position.latitude, position.longitude, type(rejected).__name__)

def names(spec):
    yield getattr(spec, "name", None) or spec.kind.name
    for child in getattr(spec, "children", ()):
        yield from names(child)

print([name for name in names(fleet_tree(None, FleetSettings(data=Path("data")))) if "commas" in name])
"""
    )
    assert written.splitlines() == [
        "('123456789012345',) 1.5 2.5 FrameRejected",
        "['listener:commas']",
    ]


def test_a_report(actors):
    actors.write(
        "actors/reports/name_lengths.py",
        '''"""How long the names of devices are."""

from collections.abc import AsyncGenerator

import msgspec

from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.storage.records import Device


class NameLength(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The name of a device."""

    device_id: int
    """The device."""
    most_characters: int
    """Characters of its name."""


async def name_lengths(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[NameLength], None]:
    """Yield one item for the device."""
    del sources, viewer, query
    yield [NameLength(device_id=device.id, most_characters=len(device.name))]
''',
    )
    path = "actors/reports/columns.py"
    imports = "from motorpool.actors.reports.routes import"
    actors.insert(
        path, imports, "from motorpool.actors.reports.name_lengths import NameLength, name_lengths\n"
    )
    entry = """        Report(
            "names",
            "the names of devices",
            _each(name_lengths),
            list[NameLength],
            (Column("Characters", TEXT, lambda each: str(each.most_characters)),),
        ),
"""
    actors.insert(path, '        Report("trips", ', entry)
    assert_named(actors.files, "a report")
    written = actors.run(
        """
import io, tempfile, zipfile
from datetime import UTC, datetime
import msgspec, trio
from motorpool.actors.reports import columns
from motorpool.actors.reports.sources import ReportQuery
from motorpool.actors.reports.workbook import WorkbookWriter
from motorpool.actors.words.preferences import Preferences
from motorpool.api.app import openapi_document
from motorpool.storage.records import Device

document = openapi_document()
print(*sorted(path for path in document["paths"] if "/reports/names" in path))
assert "mostCharacters" in str(document["components"])
now = datetime(2026, 1, 1, tzinfo=UTC)
report, items = columns.REPORTS["names"], []

async def devices_of(*args, **kwargs):
    yield [Device(id=7, name="Van", unique_id="1")]

async def read():
    async for device, found in report.read(None, None, ReportQuery(start=now, end=now)):
        items.extend(found)

columns.devices_of = devices_of
trio.run(read)
print(msgspec.json.encode(items).decode())
file = io.BytesIO()
with tempfile.TemporaryDirectory() as folder:
    writer = WorkbookWriter(file, folder, Preferences(), now)
    writer.begin_sheet(report.title, (), report.columns)
    writer.add_rows(items)
    writer.close()
sheet = zipfile.ZipFile(file).read("xl/worksheets/sheet1.xml").decode()
print("Characters" in sheet, "<t>3</t>" in sheet)
"""
    )
    assert written.splitlines() == [
        "/reports/names /reports/names/{type}",
        '[{"deviceId":7,"mostCharacters":3}]',
        "True True",
    ]


def test_a_notificator(actors):
    actors.write(
        "actors/deliveries/notificators/pager.py",
        '''"""Messages to pagers."""

from dataclasses import dataclass

from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Notificator, post
from motorpool.actors.http.errors import Unreachable
from motorpool.storage.deliveries.outbox import OutgoingMessage


@dataclass(frozen=True, kw_only=True)
class PagerSettings:
    """Notifications by pager."""

    url: str = ""
    """The service."""


class Pager(Notificator):
    """A service of pagers."""

    name = "pager"
    settings = PagerSettings
    attribute = "pagerNumber"

    @property
    def enabled(self) -> bool:
        """Whether the settings name a service."""
        return bool(self._settings.url)

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Send a message to the pager `to`."""
        del envelope
        form = {"number": message.to, "text": message.text}
        answer = await post(self._http, "pager", self._settings.url, form=form)
        if not answer.ok:
            raise Unreachable(f"the service of pagers answers {answer.status}")
''',
    )
    path = "actors/deliveries/notificators/__init__.py"
    imports = "from motorpool.actors.deliveries.notificators.pushover import"
    actors.insert(path, imports, "from motorpool.actors.deliveries.notificators.pager import Pager\n")
    actors.insert(path, "Ntfy, Webhook)", "Pager, ")
    assert_named(actors.files, "a notificator")
    written = actors.run(
        """
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import trio
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificators.pager import PagerSettings
from motorpool.storage.records import Event, User

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        print(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass

server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"
print("pager" in OutgoingServices().notificators, OutgoingServices().notificators["pager"].enabled)
pager = OutgoingServices(pager=PagerSettings(url=url)).notificators["pager"]
print(pager.enabled, [lane.name for lane in pager.lanes()])
facts, words = EventFacts(event=Event(type="alarm")), RenderedMessage("Van", "Van: SOS", "", "")
assert pager.message(User(), words, facts) is None
trio.run(pager.send, pager.message(User(attributes={"pagerNumber": "42"}), words, facts))
"""
    )
    assert written.splitlines() == ["True False", "True ['pager']", "number=42&text=Van%3A+SOS"]
