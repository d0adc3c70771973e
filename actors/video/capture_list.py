"""The captures since the last start of the server: their records, in memory.

Each capture is an actor of its own (`actors/video/capture.py`) that reports its record here; so lists and
polls cost it nothing, and its crash leaves a record that says so. The files outlive this list
(docs/decisions/0014).
"""

import secrets
from datetime import datetime
from typing import Literal, assert_never

import msgspec

from motorpool.actors.video.capture_files import new_file_name
from motorpool.runtime import Actor, ChildSpec, Kind, Request

__all__ = [
    "CAPTURE_LIST",
    "BeginCapture",
    "CaptureEnded",
    "CaptureFilesRemoved",
    "CaptureGrew",
    "CaptureList",
    "CaptureListMessage",
    "CaptureRecord",
    "GetCapture",
    "GetOpenCaptures",
    "ListCaptures",
    "OpenCapture",
    "Status",
    "capture_list_spec",
]

Status = Literal["RECORDING", "COMPLETE", "FAILED"]
KEPT_RECORDS = 100_000
"""Past that the oldest that have ended are forgotten."""


class CaptureRecord(msgspec.Struct, frozen=True):
    """What is known of a capture."""

    id: str
    device_id: int
    channel: int
    file_name: str
    started_at: datetime
    completed_at: datetime | None = None
    status: Status = "RECORDING"
    size: int = 0
    """Bytes written so far."""
    reason: str | None = None
    """Why it has ended; None while it is recording."""
    live: bool = False
    """Of the live stream; else of a playback."""
    removed: bool = False
    """Its file is no longer there."""
    unique_id: str = ""
    """Of the device, when the capture was opened."""
    max_seconds: float | None = None
    """A live capture lasts this long; None: until it is ended."""
    has_begun: bool = False
    """Its actor has started."""
    span: tuple[datetime, datetime] | None = None
    """Of a playback: when what it holds was recorded, from the earliest to the latest; None while unknown."""


class OpenCapture(msgspec.Struct, Request[CaptureRecord | None], frozen=True):
    """Make a record; None where the device has as many open captures as are allowed."""

    device_id: int
    channel: int
    live: bool = False
    """Of the live stream; else of a playback."""
    unique_id: str = ""
    """Of the device: names the folder of the file."""
    max_seconds: float | None = None
    """A live capture lasts this long; None: until it is ended."""


class BeginCapture(msgspec.Struct, Request[CaptureRecord | None], frozen=True):
    """A capture's actor starts: return its record; None where one had started before, and so has crashed."""

    id: str


class CaptureGrew(msgspec.Struct, frozen=True, gc=False):
    """A capture's file has grown to `size` bytes."""

    id: str
    size: int
    span: tuple[datetime, datetime] | None = None
    """When its pictures were recorded."""


class CaptureEnded(msgspec.Struct, Request[CaptureRecord | None], frozen=True):
    """A capture has ended; the first end counts. Return its record, None where there is no such capture."""

    id: str
    status: Status
    reason: str
    size: int | None = None
    """Bytes of the file; None: as last reported."""
    span: tuple[datetime, datetime] | None = None
    """When its pictures were recorded; None: as last reported."""


class CaptureFilesRemoved(msgspec.Struct, frozen=True):
    """These files are no longer there, and why."""

    names: tuple[str, ...]
    reason: str


class GetCapture(msgspec.Struct, Request[CaptureRecord | None], frozen=True):
    """Return one record; None where there is none."""

    id: str


class ListCaptures(msgspec.Struct, Request[tuple[CaptureRecord, ...]], frozen=True):
    """Return the records of a device, newest first."""

    device_id: int


class GetOpenCaptures(msgspec.Struct, Request[tuple[CaptureRecord, ...]], frozen=True):
    """Return the records of all captures that are still recording, oldest first."""


CaptureListMessage = (
    CaptureGrew
    | BeginCapture
    | GetCapture
    | ListCaptures
    | OpenCapture
    | CaptureEnded
    | CaptureFilesRemoved
    | GetOpenCaptures
)
CAPTURE_LIST: Kind[None, CaptureListMessage] = Kind("capture_list")


class CaptureList(Actor[CaptureListMessage]):
    """Keeps the records, oldest first."""

    def __init__(self, per_device: int) -> None:
        self._per_device = per_device
        self._records: dict[str, CaptureRecord] = {}
        self._by_device: dict[int, list[str]] = {}

    def handle(self, message: CaptureListMessage) -> object:
        """Handle a message; never waits."""
        match message:
            case CaptureGrew():
                return self._change(message.id, size=message.size, span=message.span)
            case BeginCapture():
                return self._begin(message.id)
            case GetCapture():
                return self._records.get(message.id)
            case ListCaptures():
                found = self._by_device.get(message.device_id, ())
                return tuple(self._records[name] for name in reversed(found))
            case OpenCapture():
                return self._open(message)
            case CaptureEnded():
                return self._ended(message)
            case CaptureFilesRemoved():
                return self._files_removed(message)
            case GetOpenCaptures():
                return tuple(record for record in self._records.values() if record.status == "RECORDING")
            case _:
                assert_never(message)

    def _open(self, message: OpenCapture) -> CaptureRecord | None:
        mine = self._by_device.get(message.device_id, ())
        if sum(self._records[name].status == "RECORDING" for name in mine) >= self._per_device:
            return None
        if len(self._records) >= KEPT_RECORDS:
            self._forget_oldest()
        now = self.context.clock.now()
        record = CaptureRecord(
            id=secrets.token_hex(8),
            device_id=message.device_id,
            channel=message.channel,
            file_name=new_file_name(now),
            started_at=now,
            live=message.live,
            unique_id=message.unique_id,
            max_seconds=message.max_seconds,
        )
        self._records[record.id] = record
        self._by_device.setdefault(record.device_id, []).append(record.id)
        return record

    def _begin(self, name: str) -> CaptureRecord | None:
        record = self._records.get(name)
        if record is None or record.has_begun:
            return None
        return self._change(name, has_begun=True)

    def _forget_oldest(self) -> None:
        for record in self._records.values():
            if record.status != "RECORDING":
                del self._records[record.id]
                self._by_device[record.device_id].remove(record.id)
                return

    def _change(self, name: str, **fields: object) -> CaptureRecord | None:
        record = self._records.get(name)
        if record is not None and record.status == "RECORDING":
            record = self._records[name] = msgspec.structs.replace(record, **fields)
        return record

    def _ended(self, message: CaptureEnded) -> CaptureRecord | None:
        given = {"size": message.size, "span": message.span}
        fields = {name: value for name, value in given.items() if value is not None}
        return self._change(
            message.id,
            status=message.status,
            reason=message.reason,
            completed_at=self.context.clock.now(),
            **fields,
        )

    def _files_removed(self, message: CaptureFilesRemoved) -> None:
        gone = set(message.names)
        for name, record in self._records.items():
            if record.file_name in gone and record.status != "RECORDING":
                self._records[name] = msgspec.structs.replace(record, removed=True, reason=message.reason)


def capture_list_spec(per_device: int) -> ChildSpec[CaptureListMessage]:
    """Return the child spec of the capture list; `per_device` captures may be open at once."""
    return ChildSpec(
        kind=CAPTURE_LIST, factory=lambda: CaptureList(per_device), resident=False, mailbox_size=10_000
    )
