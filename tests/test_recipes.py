"""Recipes of ARCHITECTURE.md, followed in a scratch copy of the repository.

Each test edits the files that its row names, all of them and no others. Then it runs the tests that it added
and those that look at all things of the kind.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINKED = ("runtime", "codecs", "storage", "actors", "api", "bench", "tests", "docs")
FILES = ("README.md", "ARCHITECTURE.md", "pyproject.toml")
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MOST_FILES = 6
ROW = re.compile(r"^\| (?P<recipe>[^|]+) \| (?P<files>`[^|`]+`(?:, `[^|`]+`)*) \| ", re.MULTILINE)
RECIPES = {row["recipe"]: re.findall("`([^`]+)`", row["files"]) for row in ROW.finditer(PAGE)}
"""The files of each change that has a row of them."""


class Scratch:
    """A copy of the repository that consists of links, except for what is edited."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.edited: set[str] = set()
        for name in (*LINKED, *FILES):
            (folder / name).symlink_to(ROOT / name)
        (folder / ".src" / "motorpool").mkdir(parents=True)
        for path in (ROOT / ".src" / "motorpool").iterdir():
            (folder / ".src" / "motorpool" / path.name).symlink_to(folder / path.name)

    def write(self, path: str, text: str) -> None:
        """Add a file."""
        self._own_folder_of(path)
        assert not (self.folder / path).exists()
        (self.folder / path).write_text(text, encoding="utf-8")
        self.edited.add(path)

    def insert(self, path: str, before: str, text: str) -> None:
        """Put `text` in front of the only place that reads `before`."""
        self._own_folder_of(path)
        file = self.folder / path
        found = file.read_text(encoding="utf-8")
        assert found.count(before) == 1, (path, before)
        file.unlink()
        file.write_text(found.replace(before, text + before), encoding="utf-8")
        self.edited.add(path)

    def _own_folder_of(self, path: str) -> None:
        """Put folders of links in place of the links that lead to a file."""
        folder = self.folder
        for part in Path(path).parent.parts:
            folder /= part
            if folder.is_symlink():
                target = folder.readlink()
                folder.unlink()
                folder.mkdir()
                for each in target.iterdir():
                    if each.name != "__pycache__":
                        (folder / each.name).symlink_to(each)

    def assert_follows(self, recipe: str, name: str) -> None:
        """Check that exactly the files of the row were edited; `name` stands for NAME."""
        assert self.edited == {path.replace("NAME", name) for path in RECIPES[recipe]}

    def run_tests(self, *arguments: str) -> int:
        """Run tests of the copy, which must pass; return how many there were."""
        path = os.pathsep.join([str(self.folder / ".src"), str(self.folder)])
        own = ("-p", "no:cacheprovider", f"--basetemp={self.folder / 'temporary'}")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=short", *own, *arguments],
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            # Of tests that take 10 s where they are alone.
            timeout=540,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (count,) = re.findall(r"(\d+) passed", done.stdout)
        return int(count)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_change_needs_at_most_six_files(recipe: str) -> None:
    paths = RECIPES[recipe]
    assert len(set(paths)) == len(paths) <= MOST_FILES
    for path in paths:
        known = re.split("[^/]*(?:NAME|MODULE|PLACE)", path)[0]
        assert (ROOT / known).exists(), path


def test_a_rule_that_makes_events(scratch: Scratch) -> None:
    scratch.write(
        "actors/rules/long_drive.py",
        '''"""Events of drives without a break."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec

from motorpool.actors.rules.position_event import position_event
from motorpool.storage.records import Event, Position

LONG_SECONDS: Final = 4 * 3600.0


class DriveState(msgspec.Struct, frozen=True, gc=False):
    """The present drive; the default is that of a device that stands."""

    since: datetime | None = None
    is_long: bool = False


def drive_events(position: Position, state: DriveState) -> tuple[list[Event], DriveState]:
    """Return an event if the drive has become long, and the state after the position."""
    if position.speed == 0.0:
        return [], DriveState()
    since = state.since or position.fix_time
    is_long = (position.fix_time - since).total_seconds() >= LONG_SECONDS
    found = [position_event("longDrive", position)] if is_long and not state.is_long else []
    return found, DriveState(since, is_long)


def rebuild_drive(points: Iterable[Position]) -> DriveState:
    """Return the state after the positions of a device."""
    state = DriveState()
    for point in points:
        _, state = drive_events(point, state)
    return state
''',
    )
    table = "actors/rules/event_rules.py"
    names = "LONG_SECONDS, DriveState, drive_events, rebuild_drive"
    module = f"from motorpool.actors.rules.long_drive import {names}\n"
    scratch.insert(table, "from motorpool.actors.rules.maintenance_due import", module)
    scratch.insert(table, "\n    def stored_on(", "    drive: DriveState = DriveState()\n")
    call = "    drives, drive = drive_events(position, state.drive)\n    found += drives\n"
    scratch.insert(table, "    day = position.fix_time.toordinal()\n", call)
    scratch.insert(table, ")\n    return FoldResult(position, known + tuple(found), state,", ", drive")
    scratch.insert(table, "3 * settings.report_trip_min_duration", "LONG_SECONDS, ")
    scratch.insert(table, "    )\n\n\ndef _inputs(", "        drive=rebuild_drive(inputs),\n")
    scratch.insert("actors/rules/event_types.py", '    "maintenance",\n', '    "longDrive",\n')
    catalog = "actors/words/catalogs/en.toml"
    scratch.insert(catalog, "]\n\n[labels]", '"longDrive"')
    scratch.insert(catalog, 'ignitionOn = "ignition on"', 'longDrive = "drives without a break"\n')
    scratch.insert(catalog, 'ignitionOn = "Ignition on"', 'longDrive = "Long drive"\n')
    row = "| `longDrive` | the device has been driving for four hours | |\n"
    scratch.insert("docs/events.md", "| `driverChanged` |", row)
    scratch.write(
        "tests/actors/rules/test_long_drive.py",
        """from datetime import UTC, datetime, timedelta

from motorpool.actors.events.rendering import EventFacts, Reader, render
from motorpool.actors.rules.device_rules import UNCONFIGURED
from motorpool.actors.rules.event_rules import NOTHING_STORED, rebuild_state, window_start
from motorpool.actors.rules.fold import FoldContext, fold
from motorpool.actors.words.preferences import preferences_of
from motorpool.api.console.words import write_kinds, write_names
from motorpool.codecs.reports import PositionReport
from motorpool.storage.records import Event

HOUR = timedelta(hours=1)


def test_a_long_drive_is_told_once_and_remembered_over_a_restart():
    state, now, stored, found = NOTHING_STORED, datetime(2026, 1, 1, tzinfo=UTC), [], []
    for speed in (0.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.0):
        now += HOUR
        place = {"latitude": 1.0, "longitude": 2.0, "speed": speed}
        report = PositionReport({}, device_time=now, fix_time=now, valid=True, **place)
        result = fold(report, state, FoldContext(7, "test", now))
        state = result.state
        stored.append(result.position)
        found.append([event.type for event in result.events])
        start = window_start(result.position, UNCONFIGURED.settings)
        points = [each for each in stored if each.fix_time >= start]
        assert rebuild_state(result.position, UNCONFIGURED, points=points).drive == state.drive
    assert found == [[], [], [], [], [], ["longDrive"], []]


def test_it_has_words_in_all_languages_and_in_the_console():
    for language in ("en", "de"):
        reader = Reader(preferences_of({"language": language}, {}))
        assert render(EventFacts(event=Event(type="longDrive")), reader).subject == "drives without a break"
    for language in ("en", "pt"):
        assert '"event.type.longDrive": "Long drive"' in write_names(language)
    assert '"longDrive"' in write_kinds()
""",
    )
    scratch.assert_follows("a rule that makes events", "long_drive")
    words = ("tests/actors/words/test_catalog.py", "tests/api/console/test_words.py")
    assert scratch.run_tests("tests/actors/rules/test_long_drive.py", *words) > 25


def test_a_device_protocol(scratch: Scratch) -> None:
    scratch.write(
        "codecs/devices/commas.py",
        '''"""The codec of lines of values between commas."""

from datetime import datetime

from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing, Line
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, PositionReport, Report


class Commas(FramedCodec):
    """The server's end of one connection."""

    name = "commas"
    port = 5999
    commands = frozenset({"custom"})
    framing = Framing(Line(b"\\n"), max_frame_bytes=256)

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Append the position of a line."""
        unique_id, time, latitude, longitude = frame.decode("ascii").strip().split(",")
        place = {"latitude": float(latitude), "longitude": float(longitude)}
        fix_time = datetime.fromisoformat(time)
        self.identify(unique_id, reports)
        reports.append(PositionReport({}, device_time=fix_time, fix_time=fix_time, valid=True, **place))

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return the text of a `custom` command (`data`) as a line."""
        text = command.attributes.get("data")
        if command.type != "custom" or not isinstance(text, str):
            raise UnsupportedCommand(f"{command.type} is not a line of text")
        return EncodedCommand(text.encode() + b"\\n")
''',
    )
    line = "123456789012345,2026-01-01T00:00:00Z,1.5,2.5\\n"
    scratch.write(
        "tests/vectors/commas.txt",
        f"""# Lines.
text {line}
report {{"type": "Login", "unique_ids": ["123456789012345"]}}
report {{"type": "PositionReport", "latitude": 1.5, "longitude": 2.5, "fix_time": "2026-01-01T00:00:00Z"}}
""",
    )
    every = "tests/codecs/test_every_codec.py"
    peer = """def commas_peer() -> tuple[DeviceCodec, Callable[[bytes], object]]:
    return CODECS["commas"](), re.compile(rb"[^\\n]+\\n").fullmatch


"""
    scratch.insert(every, "PEERS = {\n", peer)
    scratch.insert(every, '    "gps103": gps103_peer,\n', '    "commas": commas_peer,\n')
    trackers = "tests/api/resources/test_trackers.py"
    scratch.insert(
        trackers,
        '    "gps103": Tracker(\n',
        f"""    "commas": Tracker(
        "123456789012345",
        [(b"{line}", b"")],
        {{"latitude": 1.5, "longitude": 2.5, "fixTime": "2026-01-01T00:00:00Z"}},
        "custom",
        b"reset\\n",
        {{"data": "reset"}},
    ),
""",
    )
    page = "# Commas\n\nA line has IMEI, time, latitude and longitude in degrees. Port 5999.\n"
    scratch.write("/".join(("docs", "protocols", "commas.md")), page)
    scratch.insert("README.md", "| Meitrack MVT", "| Trackers that write commas | TCP 5999 |\n")
    scratch.assert_follows("a device protocol", "commas")
    assert scratch.run_tests(every, trackers, "-k", "commas or row") > 20


def test_a_report(scratch: Scratch) -> None:
    scratch.write(
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
    characters: int
    """Characters of its name that count."""


async def name_lengths(
    sources: Sources, viewer: Viewer, device: Device, query: ReportQuery
) -> AsyncGenerator[list[NameLength], None]:
    """Yield one item for the device."""
    del sources, viewer
    name = device.name.replace(" ", "") if query.ignore_spaces else device.name
    yield [NameLength(device_id=device.id, characters=len(name))]
''',
    )
    table = "actors/reports/columns.py"
    module = "from motorpool.actors.reports.name_lengths import NameLength, name_lengths\n"
    scratch.insert(table, "from motorpool.actors.reports.routes import", module)
    entry = """        Report(
            "names",
            "the names of devices",
            _each(name_lengths),
            list[NameLength],
            (Column("Characters", TEXT, lambda each: str(each.characters)),),
            options=("ignore_spaces",),
        ),
"""
    scratch.insert(table, '        Report("trips", ', entry)
    parameter = '    ignore_spaces: bool = False\n    """Count no spaces."""\n'
    scratch.insert("actors/reports/sources.py", "\n\nclass ReportRules(", parameter)
    matrix = "tests/api/permission_matrix.txt"
    like = "GET /reports/stops?SPAN                         |"
    lines = (ROOT / matrix).read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in lines if line.startswith(like)]
    rows = f"{row.replace('stops', 'names')}\n{row.replace('stops?SPAN     ', 'names/xlsx?SPAN')}\n"
    scratch.insert(matrix, like, rows)
    section = "### Name lengths\n\n`ignoreSpaces=true` counts no spaces.\n\n"
    scratch.insert("docs/reports.md", "### Presence\n", section)
    scratch.write(
        "tests/api/resources/reports/test_name_lengths.py",
        """import io
import zipfile

from tests.api.resources.reports.reporting import span


async def test_the_lengths_of_names_as_json_and_as_a_workbook(served):
    device_id = await served.device(served.admin, "1", name="Red van")
    for parameters, characters in ((span(), 7), (span(ignoreSpaces="true"), 6)):
        path = f"/reports/names?{parameters}&deviceId={device_id}"
        assert (await served.admin.get(path)).json() == [{"deviceId": device_id, "characters": characters}]
        answer = await served.admin.get(path.replace("names", "names/xlsx"))
        sheet = zipfile.ZipFile(io.BytesIO(answer.body)).read("xl/worksheets/sheet1.xml").decode()
        assert "Characters" in sheet and f"<t>{characters}</t>" in sheet
""",
    )
    scratch.assert_follows("a report", "name_lengths")
    added = "tests/api/resources/reports/test_name_lengths.py"
    walk = "tests/api/test_permission_walk.py"
    document = "tests/api/test_openapi_document.py"
    assert scratch.run_tests(added, walk, document, "-k", "not everybody") > 15


def test_a_notificator(scratch: Scratch) -> None:
    scratch.write(
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
        answer = await post(self._http, "pager", self._settings.url, trusted=self._trusted, form=form)
        if not answer.ok:
            raise Unreachable(f"the service of pagers answers {answer.status}")
''',
    )
    listed = "actors/deliveries/notificators/__init__.py"
    module = "from motorpool.actors.deliveries.notificators.pager import Pager\n"
    scratch.insert(listed, "from motorpool.actors.deliveries.notificators.pushover import", module)
    scratch.insert(listed, "Ntfy, Webhook)", "Pager, ")
    row = "| `pager` | the number in the user's attribute `pagerNumber` | `[pager] url` |\n"
    scratch.insert("docs/events.md", "| `webhook` |", row)
    scratch.insert("docs/users.md", "`pushoverDeviceNames`", "`pagerNumber`, ")
    scratch.insert("README.md", "ntfy, a geocoder", "pagers, ")
    scratch.write(
        "tests/actors/deliveries/test_pager.py",
        """from urllib.parse import parse_qs

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificators.pager import PagerSettings
from motorpool.storage.records import Event, User


async def test_a_pager_gets_the_text_for_the_number(web_server):
    assert not OutgoingServices().notificators["pager"].enabled
    server = web_server()
    pager = OutgoingServices(pager=PagerSettings(url=server.url)).notificators["pager"]
    assert pager.enabled
    assert [lane.name for lane in pager.lanes()] == ["pager"]
    facts, words = EventFacts(event=Event(type="alarm")), RenderedMessage("Van", "Van: SOS", "", "")
    assert pager.message(User(), words, facts) is None
    await pager.send(pager.message(User(attributes={"pagerNumber": "42"}), words, facts))
    (asked,) = server.asked
    assert parse_qs(asked.body.decode()) == {"number": ["42"], "text": ["Van: SOS"]}
""",
    )
    scratch.assert_follows("a notificator", "pager")
    others = ("tests/actors/deliveries/test_push.py", "tests/api/test_settings.py")
    assert scratch.run_tests("tests/actors/deliveries/test_pager.py", *others) > 20
