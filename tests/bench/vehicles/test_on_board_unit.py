"""A simulated vehicle against a platform that fits in a test: the server's own codec behind a real socket."""

import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

import av
import msgspec
import pytest
import trio
from PIL import Image

from motorpool.bench.target import Target
from motorpool.bench.vehicles import command_handling, on_board_unit
from motorpool.bench.vehicles.archive import Archive
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.fleet import plan_fleet
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.on_board_unit import OnBoardUnit
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding
from motorpool.codecs.reports import (
    REQUEST_ALARM_FILES,
    AlarmFilesAnnounced,
    CommandResult,
    DeviceCommand,
    FileChunk,
    FileUploadCompleted,
    Login,
    MediaAddress,
    MediaFile,
    PositionReport,
    RecordingList,
    Report,
)
from motorpool.runtime.clock import SystemClock

T = TypeVar("T", bound=msgspec.Struct)

PATIENCE_SECONDS = 20.0


class Line:
    """One terminal's connection, as the platform sees it."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.codec = Jt808()
        self.reports: list[Report] = []
        self.grown = trio.Condition()
        self.ended = trio.Event()
        self._sending = trio.Lock()

    async def send(self, content: bytes) -> None:
        """Answers and orders go out one after the other."""
        async with self._sending:
            await self.stream.send_all(content)

    async def first(self, kind: type[T], wanted: Callable[[T], bool] = lambda _: True) -> T:
        """Wait for the first report of that kind that is as wanted."""
        with trio.fail_after(PATIENCE_SECONDS):
            async with self.grown:
                while True:
                    for report in self.reports:
                        if isinstance(report, kind) and wanted(report):
                            return report
                    await self.grown.wait()

    async def order(self, kind: str, media_port: int = 0, **attributes: Any) -> int | None:
        """Send a command; its reference."""
        media = MediaAddress("127.0.0.1", media_port, media_port)
        outgoing = self.codec.encode(DeviceCommand(kind, attributes, media=media))
        await self.send(outgoing.data)
        return outgoing.reference


class Platform:
    """Accepts terminals and their media; acknowledges positions by default."""

    def __init__(self) -> None:
        self.stores = True
        self.accepts = True
        self._lines, self.lines = trio.open_memory_channel[Line](10)
        self._films, self.films = trio.open_memory_channel[trio.SocketStream](10)

    async def serve(self, stream: trio.SocketStream) -> None:
        line = Line(stream)
        self._lines.send_nowait(line)
        async with stream:
            while content := await stream.receive_some(65536):
                reports = line.codec.receive(content)
                for report in reports:
                    receipt = getattr(report, "receipt", None)
                    if receipt is None or (isinstance(report, PositionReport) and not self.stores):
                        continue
                    answer = line.codec.acknowledge([receipt]) if self.accepts else line.codec.refuse(receipt)
                    await line.send(answer)
                async with line.grown:
                    line.reports += reports
                    line.grown.notify_all()
        line.ended.set()

    async def watch(self, stream: trio.SocketStream) -> None:
        self._films.send_nowait(stream)
        await trio.sleep_forever()

    async def next_line(self) -> Line:
        with trio.fail_after(PATIENCE_SECONDS):
            return await self.lines.receive()

    async def next_film(self) -> trio.SocketStream:
        with trio.fail_after(PATIENCE_SECONDS):
            return await self.films.receive()


class Scene:
    """A vehicle on the road, and its platform."""

    def __init__(self, platform: Platform, unit: OnBoardUnit, media_port: int, port: int) -> None:
        self.platform = platform
        self.port = port
        self.unit = unit
        self.media_port = media_port


@asynccontextmanager
async def scene(number: int = 1, archive: Archive | None = None, **plan: Any) -> AsyncIterator[Scene]:
    platform = Platform()
    fleet = plan_fleet(vehicles=2, interval_seconds=0.05, frames_per_second=30, **plan)
    async with trio.open_nursery() as nursery:

        async def listen(serve: Callable[[trio.SocketStream], Any]) -> int:
            async def quietly(stream: trio.SocketStream) -> None:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await serve(stream)

            listeners = await nursery.start(trio.serve_tcp, quietly, 0)
            return listeners[0].socket.getsockname()[1]

        port, media_port = await listen(platform.serve), await listen(platform.watch)
        target = Target(host="127.0.0.1", port_offset=port - Jt808.port)
        driven = Vehicle(fleet.vehicles[number - 1])
        unit = OnBoardUnit(driven, target, EncodingThread(), SystemClock(), archive)
        nursery.start_soon(unit.run)
        yield Scene(platform, unit, media_port, port)
        nursery.cancel_scope.cancel()


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let restarts and reconnections take a moment only."""
    monkeypatch.setattr(on_board_unit, "FIRST_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(on_board_unit, "MAX_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(command_handling, "RESTART_SECONDS", 0.02)


async def read_units(
    stream: trio.SocketStream, enough: Callable[[list[AccessUnit]], bool]
) -> list[AccessUnit]:
    """Read media until there is enough, or its end."""
    codec, units = Jt1078Parser(), list[AccessUnit]()
    with trio.fail_after(PATIENCE_SECONDS):
        while not enough(units) and (content := await stream.receive_some(65536)):
            units += [unit for unit in codec.receive(content) if isinstance(unit, AccessUnit)]
    return units


def frame_numbers(units: list[AccessUnit]) -> list[int | None]:
    pictures = b"".join(unit.payload for unit in units if unit.is_video)
    with av.open(io.BytesIO(pictures), format="h264") as container:
        return [read_number(frame.to_image()) for frame in container.decode(video=0)]


@pytest.mark.parametrize("number", [1, 2], ids=["2013", "2019"])
async def test_a_vehicle_registers_authenticates_and_reports(number: int) -> None:
    async with scene(number) as here:
        line = await here.platform.next_line()
        login = await line.first(Login)
        assert f"1380010000{number}" in login.unique_ids
        assert login.attributes["plate"] == f"B-MP 10{number}"
        position = await line.first(PositionReport)
        assert position.valid
        assert 52.4 < position.latitude < 52.6
        assert 13.2 < position.longitude < 13.5
        assert position.device_time is not None
        assert abs(position.device_time - SystemClock().now()) < timedelta(seconds=10)
        assert {"ignition", "odometer", "fuel", "rssi", "sat", "input"} <= position.attributes.keys()


async def test_a_vehicle_reconnects_with_its_code_and_sends_what_was_not_stored() -> None:
    async with scene() as here:
        here.platform.stores = False
        line = await here.platform.next_line()
        lost = await line.first(PositionReport)
        here.platform.stores = True
        await line.stream.aclose()
        again = await here.platform.next_line()
        login = await again.first(Login)
        assert "plate" not in login.attributes  # authenticated with the code: no second registration
        caught_up = await again.first(PositionReport, lambda report: report.archived)
        assert caught_up.device_time == lost.device_time
        assert (caught_up.latitude, caught_up.longitude) == (lost.latitude, lost.longitude)


async def test_a_refused_vehicle_retries_and_reports_nothing() -> None:
    async with scene() as here:
        here.platform.accepts = False
        for _ in range(3):
            line = await here.platform.next_line()
            await line.first(Login)
            with trio.fail_after(PATIENCE_SECONDS):
                await line.ended.wait()
            assert not any(isinstance(report, PositionReport) for report in line.reports)
        assert not here.unit.is_logged_in


async def test_a_reboot_is_answered_before_the_vehicle_comes_back() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        reference = await line.order("rebootDevice")
        result = await line.first(CommandResult)
        assert (result.reference, result.ok) == (reference, True)
        again = await here.platform.next_line()
        assert await again.first(PositionReport)


async def test_a_stopped_vehicle_reports_it_until_the_engine_is_resumed() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        await line.order("engineStop")
        stopped = await line.first(PositionReport, lambda report: report.attributes["blocked"])
        assert stopped.speed == 0
        assert stopped.attributes["ignition"] is False
        standing = [report for report in line.reports if isinstance(report, PositionReport)]
        await line.order("engineResume")
        await line.first(
            PositionReport, lambda report: report not in standing and not report.attributes["blocked"]
        )


async def test_single_positions_and_photos_are_sent_when_asked_for() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        reference = await line.order("positionSingle")
        assert await line.first(CommandResult, lambda result: result.reference == reference)
        await line.order("requestPhoto", channel=2)
        photo = await line.first(MediaFile)
        assert (photo.kind, photo.extension, photo.channel) == ("image", "jpg", 2)
        with av.open(io.BytesIO(photo.content), format="jpeg_pipe") as container:
            assert next(container.decode(video=0)).width == 640


async def test_an_unknown_command_is_refused() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        reference = await line.order("custom", data="8702")
        result = await line.first(CommandResult)
        assert (result.reference, result.ok) in ((reference, False), (None, False))


@pytest.mark.parametrize(
    ("number", "sound"), [(1, AudioCoding.AAC), (2, AudioCoding.G711A)], ids=["2013", "2019"]
)
async def test_live_video_begins_and_ends_by_command(number: int, sound: Coding) -> None:
    async with scene(number) as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        await line.order("videoStart", here.media_port, channel=2)
        film = await here.platform.next_film()
        units = await read_units(
            film,
            lambda units: (
                sum(unit.is_video for unit in units) > 20 and any(unit.coding is sound for unit in units)
            ),
        )
        assert {unit.channel for unit in units} == {2}
        numbers = frame_numbers(units)
        assert len(numbers) > 20
        assert numbers == list(range(len(numbers)))
        await line.order("videoStop", channel=2)
        rest = await read_units(film, lambda _: False)
        assert len(rest) < 100


async def test_a_channel_that_the_vehicle_does_not_have_is_refused() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        reference = await line.order("videoStart", here.media_port, channel=9)
        result = await line.first(CommandResult)
        assert (result.reference, result.ok) == (reference, False)


async def test_recordings_are_listed_and_played_back_to_their_end() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        now = SystemClock().now().replace(microsecond=0)
        reference = await line.order(
            "videoPlaybackList", channel=1, startTime=_iso(now - timedelta(hours=2)), endTime=_iso(now)
        )
        listed = await line.first(RecordingList)
        assert listed.reference == reference
        assert 7 <= len(listed.recordings) <= 9
        start = listed.recordings[0].start_time + timedelta(seconds=10)
        await line.order(
            "videoPlayback",
            here.media_port,
            channel=1,
            startTime=_iso(start),
            endTime=_iso(start + timedelta(seconds=1)),
        )
        film = await here.platform.next_film()
        units = await read_units(film, lambda _: False)
        pictures = [unit for unit in units if unit.is_video]
        assert pictures[0].timestamp == round(start.timestamp() * 1000)
        assert pictures[-1].timestamp - pictures[0].timestamp == pytest.approx(1000, abs=40)
        assert frame_numbers(units) == list(range(len(pictures)))


def _iso(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


async def test_a_playback_pauses_resumes_seeks_and_ends_by_command() -> None:
    async with scene() as here:
        line = await here.platform.next_line()
        await line.first(PositionReport)
        start = SystemClock().now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)

        async def control(act: str, **more: Any) -> None:
            reference = await line.order("videoPlaybackControl", channel=1, control=act, **more)
            result = await line.first(CommandResult, lambda result: result.reference == reference)
            assert result.ok

        await line.order(
            "videoPlayback",
            here.media_port,
            channel=1,
            startTime=_iso(start),
            endTime=_iso(start + timedelta(minutes=30)),
        )
        film = await here.platform.next_film()
        await read_units(film, lambda units: len(units) > 5)
        await control("pause")
        await control("seek", time=_iso(start + timedelta(minutes=20)))
        await control("resume")
        sought = round((start + timedelta(minutes=20)).timestamp() * 1000)
        units = await read_units(film, lambda units: any(unit.timestamp >= sought for unit in units))
        assert units[-1].timestamp < sought + 1000
        await control("stop")
        assert await read_units(film, lambda _: False) is not None
        reference = await line.order("videoPlaybackControl", channel=1, control="pause")
        result = await line.first(CommandResult, lambda result: result.reference == reference)
        assert not result.ok


@pytest.mark.parametrize("number", [1, 2], ids=["2013", "2019"])
async def test_a_vehicle_uploads_the_files_of_an_alarm_on_request(number: int) -> None:
    async with scene(number, alarm_seconds=3600.0) as here:
        line = await here.platform.next_line()
        alarm = await line.first(PositionReport, lambda report: "alarmLabel" in report.attributes)
        assert alarm.attributes["dmsAlarm"] == 2
        label = alarm.attributes["alarmLabel"]
        for _ in range(2):
            media = MediaAddress("127.0.0.1", 1, 1, here.port)
            await line.send(
                line.codec.encode(DeviceCommand(REQUEST_ALARM_FILES, {"label": label}, media=media)).data
            )
            upload = await here.platform.next_line()
            offered = await upload.first(AlarmFilesAnnounced)
            assert (offered.label, offered.is_ours, offered.files) == (label, True, 2)
            image = await upload.first(FileUploadCompleted)
            film = await upload.first(FileUploadCompleted, lambda report: report.kind == "video")
            assert (image.kind, image.extension, image.channel) == ("image", "jpg", 65)
            content = {image.name: b"", film.name: b""}
            for report in upload.reports:
                if isinstance(report, FileChunk):
                    content[report.name] += report.content
            with Image.open(io.BytesIO(content[image.name])) as photo:
                assert photo.format == "JPEG"
            with av.open(io.BytesIO(content[film.name]), format="h264") as container:
                assert len([*container.decode(video=0)]) == 20
        # It is raised as seldom as the plan has it.
        labelled = [each for each in line.reports if "alarmLabel" in getattr(each, "attributes", {})]
        assert len(labelled) == 1
        unknown = DeviceCommand(REQUEST_ALARM_FILES, {"label": "00" * 16}, media=media)
        await line.send(line.codec.encode(unknown).data)
        with trio.move_on_after(0.3):
            await here.platform.next_line()
            raise AssertionError("it brings files that it does not have")


async def test_an_archive_arrives_in_order_and_before_all_else() -> None:
    since = SystemClock().now().replace(microsecond=0) - timedelta(hours=1)
    async with scene(archive=Archive(since)) as here:
        line = await here.platform.next_line()
        await line.first(PositionReport, lambda report: not report.attributes.get("archive"))
        times = [report.device_time for report in line.reports if isinstance(report, PositionReport)]
        assert times == sorted(times)
        assert times[0] == since
        assert len(times) > 100


async def test_an_archive_with_an_end_is_the_last_that_is_heard_of_a_vehicle() -> None:
    since = SystemClock().now().replace(microsecond=0) - timedelta(hours=6)
    until = since + timedelta(hours=1)
    async with scene(archive=Archive(since, until)) as here:
        line = await here.platform.next_line()
        with trio.fail_after(PATIENCE_SECONDS):
            await line.ended.wait()
        times = [report.device_time for report in line.reports if isinstance(report, PositionReport)]
        assert times[0] == since
        assert until - timedelta(minutes=6) < times[-1] < until
