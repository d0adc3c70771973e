"""Begins the captures that ticket rules ask for, and enters in the history of tickets how captures end.

All of it stands in the table `ticket_captures`, so nothing is lost by a crash. A server takes the captures of
devices that are connected to it, by comparison: two servers never capture the same. While one runs, its row
is leased; when the lease has ended, the server that has the file takes the row over (docs/decisions/0221).
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import trio

from motorpool.actors.files.media_store import MediaStore, media_key
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.capture_evidence import (
    author_of,
    entry_of,
    file_attributes,
    measure_file,
    with_camera,
)
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import Change
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce, write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.captures import CAPTURE
from motorpool.actors.messages.tickets import TicketCapturesWaiting
from motorpool.actors.video.capture_files import repair_one
from motorpool.actors.video.capture_records import SERVER_ENDED, OpenCapture
from motorpool.actors.video.capture_start import NotCaptured, begin_capture, capture_recording, end_capture
from motorpool.actors.video.leased_captures import LEASE, PAGE, RETRY, LeasedCaptures, audited, capturing_user
from motorpool.runtime import ActorError
from motorpool.storage.accounts import audit
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk import companies, ticket_captures, ticket_files
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.helpdesk.ticket_files import FileFacts
from motorpool.storage.records import Device
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureRecord

GRACE = timedelta(minutes=5)
"""How long the server that has the file of a capture may take to come back."""
MAX_ATTEMPTS = 3
"""Starts of a recording capture, with nothing left of it, after which it has failed."""
STARTS = 8
"""Captures that begin at the same time."""
NO_RIGHT = "the user of the rule may not capture video of the device"
NOT_IN_TIME = "the device was not connected in time, or its other playbacks did not end"


class TicketCaptures(LeasedCaptures[TicketCapturesWaiting, TicketCapture]):
    """Looks after the captures of one server."""

    FAILURE = "captures of tickets are not followed"
    DELETED = "the ticket was deleted"

    def __init__(
        self,
        database: Database,
        store: MediaStore,
        holder: str,
        calendars: BusinessCalendars,
        mails: TicketMails,
    ) -> None:
        """`holder` tells this server from others; `store` keeps the files of captures."""
        super().__init__(database, ticket_captures.ROWS, holder)
        self._store = store
        self._calendars = calendars
        self._mails = mails
        self._aside: dict[int, float] = {}
        """Rows that could not be written, and when they are tried again, in monotonic seconds."""

    async def is_any(self) -> bool:
        """Return whether any ticket waits for a capture."""
        return await ticket_captures.is_any(self._database)

    async def settle_ended(self, held: Sequence[TicketCapture]) -> bool:
        """Write how captures have ended; return whether others run."""
        ended = await self._not_recording(held)
        await self._each(ended, self._settle)
        return len(ended) < len(held)

    async def take(self, held: Sequence[TicketCapture], now: datetime) -> None:
        """End what may not go on, and begin what may."""
        await self._each([capture for capture in held if capture.rule], self._check_right)
        await self._each(await self._rows.lapsed(self._database, now=now, limit=PAGE), self._take_over)
        await self._each(await self._rows.expired(self._database, now=now, limit=PAGE), self._expire)
        busy = {capture.device_id for capture in held if capture.rule and not capture.live}
        await self._each(await self.startable(busy, now), self._begin, at_once=STARTS)

    async def _each(
        self,
        rows: Sequence[TicketCapture],
        work: Callable[[TicketCapture], Awaitable[None]],
        *,
        at_once: int = 1,
    ) -> None:
        """Do the work for each capture; one that fails is put aside and does not hold up the others."""
        slots = trio.CapacityLimiter(at_once)

        async def one(capture: TicketCapture) -> None:
            async with slots:
                try:
                    await work(capture)
                except Exception as error:
                    self._aside[capture.id] = self.context.clock.monotonic() + RETRY.total_seconds()
                    if isinstance(error, StorageError | ActorError | OSError):
                        self.context.log.warning("capture for ticket %d: %s", capture.ticket_id, error)
                    else:
                        self.context.log.exception("capture for ticket %d", capture.ticket_id)

        now = self.context.clock.monotonic()
        self._aside = {number: at for number, at in self._aside.items() if at > now}
        async with trio.open_nursery() as nursery:
            for capture in rows:
                if capture.id not in self._aside:
                    nursery.start_soon(one, capture)

    async def _may_capture(self, capture: TicketCapture) -> bool:
        """Return whether the user of the rule has all the rights that it takes, at this moment."""
        user = await capturing_user(self.context.system, self._database, capture, self.context.clock.now())
        if user is None:
            return False
        membership = await companies.membership(self._database, user.id, capture.company_id)
        return user.administrator or membership.handles_tickets

    async def _begin(self, waiting: TicketCapture) -> None:
        """Begin a capture, unless another server has; end one that never will begin."""
        now = self.context.clock.now()
        device = await devices.TABLE.fetch(self._database, waiting.device_id)
        if device is None or not await self._may_capture(waiting):
            await self._end(waiting, entry_of(waiting, "FAILED", NO_RIGHT))
            return
        if not await self._rows.begin(self._database, waiting.id, self._holder, until=now + LEASE):
            return
        capture = msgspec.structs.replace(
            waiting, status="recording", holder=self._holder, attempts=waiting.attempts + 1
        )
        record = await self._open(capture, device)
        if isinstance(record, NotCaptured):
            at = now + RETRY if record.may_pass else now
            await ticket_captures.put_back(
                self._database, capture.id, self._holder, not_before=at, refusal=record.reason
            )
            if not record.may_pass:
                await self._end(waiting, entry_of(waiting, "FAILED", record.reason))
            return
        try:
            await self._note(capture, record, to_milliseconds(now))
        except BaseException:
            end_capture(self.context.system, record.id, "the ticket could not be written")
            raise

    async def _open(self, capture: TicketCapture, device: Device) -> CaptureRecord | NotCaptured:
        if not capture.live:
            return await capture_recording(
                self.context.system,
                device_id=device.id,
                unique_id=device.unique_id,
                channel=capture.channel,
                begins=capture.begins,
                ends=capture.ends,
                user_id=capture.user_id,
            )
        seconds = (capture.ends - capture.begins).total_seconds()
        return await begin_capture(
            self.context.system,
            OpenCapture(device.id, capture.channel, True, unique_id=device.unique_id, max_seconds=seconds),
        )

    async def _note(self, capture: TicketCapture, record: CaptureRecord, now: datetime) -> None:
        """Write that a capture runs; one whose ticket is gone is ended."""
        named = msgspec.structs.replace(capture, capture_id=record.id, file_name=record.file_name)
        async with self._database.transaction() as transaction:
            found = await lock_facts(transaction, [capture.ticket_id], self._calendars, now=now)
            facts = found.get(capture.ticket_id)
            is_ours = await ticket_captures.name_file(
                transaction, capture.id, self._holder, capture_id=record.id, file_name=record.file_name
            )
            if facts is None or not is_ours:
                end_capture(self.context.system, record.id, self.DELETED)
                return
            entry = await with_camera(transaction, entry_of(named, "RECORDING"))
            outcome = add_evidence(facts, author_of(named), now, entry, internal=named.internal)
            changes = await write(transaction, [Change(facts, outcome)], now, self._mails)
            by_rule = audited(named, named.file_name, now, ticketId=named.ticket_id, ruleId=named.rule)
            await audit.record(transaction, by_rule)
        self._running[capture.id] = record.id
        await announce(self.context.system, changes)

    async def _check_right(self, capture: TicketCapture) -> None:
        if not await self._may_capture(capture):
            end_capture(self.context.system, capture.capture_id, NO_RIGHT)

    async def _not_recording(self, held: Sequence[TicketCapture]) -> list[TicketCapture]:
        """Return the captures that have ended, or are unknown."""
        records = await captures.by_ids(self._database, {capture.capture_id for capture in held} - {""})
        return [
            capture
            for capture in held
            if (record := records.get(capture.capture_id)) is None or record.status != "RECORDING"
        ]

    async def _settle(self, capture: TicketCapture) -> None:
        """Write how a capture of this server has ended, if it has."""
        record = await captures.fetch(self._database, capture.capture_id)
        if record is not None and record.status == "RECORDING":
            return
        reason = SERVER_ENDED if record is None else record.reason or ""
        device = await devices.TABLE.fetch(self._database, capture.device_id)
        file = await self._file_of(capture, record, device)
        if device is not None and file is not None:
            entry = entry_of(capture, "COMPLETE", reason) | file_attributes(device, file)
            await self._end(capture, entry, file)
        elif (record is None or record.interrupted) and self._may_repeat(capture):
            at = self.context.clock.now() + RETRY
            await ticket_captures.put_back(
                self._database, capture.id, self._holder, not_before=at, refusal=reason
            )
        else:
            await self._end(capture, entry_of(capture, "FAILED", reason))
        self._running.pop(capture.id, None)

    def _may_repeat(self, capture: TicketCapture) -> bool:
        is_recorded = bool(capture.rule) and not capture.live
        return is_recorded and capture.attempts < MAX_ATTEMPTS and self.context.clock.now() < capture.expires

    async def _file_of(
        self, capture: TicketCapture, record: CaptureRecord | None, device: Device | None
    ) -> FileFacts | None:
        """Return what identifies the file of a capture that has ended; None if it has none."""
        if device is None or not capture.file_name:
            return None
        try:
            if record is None:
                # A crash may have left it within a fragment, and the retention of captures not repaired it.
                key = media_key(device.unique_id, capture.file_name)
                repaired = await trio.to_thread.run_sync(repair_one, self._store, key)
                if repaired is None or not repaired.size:
                    return None
            elif record.status == "FAILED" or record.removed:
                return None
            return await measure_file(self._store, device.unique_id, capture.file_name)
        except FileNotFoundError:
            return None

    async def _take_over(self, lapsed: TicketCapture) -> None:
        """Take a capture whose server no longer runs, if its file is here or may be nowhere."""
        now = self.context.clock.now()
        assert lapsed.leased_until is not None
        if now < lapsed.leased_until + GRACE and not await self._is_here(lapsed):
            return
        until = now + LEASE
        if await self._rows.take_over(self._database, lapsed, self._holder, until=until):
            await self._settle(msgspec.structs.replace(lapsed, holder=self._holder, leased_until=until))

    async def _is_here(self, capture: TicketCapture) -> bool:
        if not capture.capture_id:
            return False
        if capture.capture_id in self.context.system.keys(CAPTURE):
            return True
        record = await captures.fetch(self._database, capture.capture_id)
        if record is not None and (record.status == "FAILED" or record.removed):
            return True  # there is no file anywhere
        device = await devices.TABLE.fetch(self._database, capture.device_id)
        if device is None:
            return True
        key = media_key(device.unique_id, capture.file_name)
        return await trio.to_thread.run_sync(self._store.exists, key)

    async def _expire(self, capture: TicketCapture) -> None:
        await self._end(capture, entry_of(capture, "FAILED", capture.refusal or NOT_IN_TIME))

    async def _end(
        self, capture: TicketCapture, attributes: dict[str, Any], file: FileFacts | None = None
    ) -> None:
        """Write how a capture has ended, unless its ticket is gone or another server has."""
        now = to_milliseconds(self.context.clock.now())
        async with self._database.transaction() as transaction:
            found = await lock_facts(transaction, [capture.ticket_id], self._calendars, now=now)
            if not await ticket_captures.end(transaction, capture) or not found:
                return
            facts = found[capture.ticket_id]
            if file is not None:
                await ticket_files.add(transaction, capture.company_id, capture.ticket_id, file)
            entry = await with_camera(transaction, attributes)
            outcome = add_evidence(facts, author_of(capture), now, entry, internal=capture.internal)
            changes = await write(transaction, [Change(facts, outcome)], now, self._mails)
        await announce(self.context.system, changes)
