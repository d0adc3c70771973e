"""Begins the captures that ticket rules ask for (docs/ticket-rules.md#video).

Part of the actor of `ticket_captures.py`.
"""

from datetime import datetime

import msgspec

from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.capture_evidence import author_of, entry_of
from motorpool.actors.helpdesk.draft import to_milliseconds
from motorpool.actors.helpdesk.evidence import add_evidence
from motorpool.actors.helpdesk.facts import Change
from motorpool.actors.helpdesk.ticket_reader import lock_facts
from motorpool.actors.helpdesk.ticket_writer import announce, write
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.video.capture_records import OpenCapture
from motorpool.actors.video.capture_start import (
    NotCaptured,
    begin_capture,
    capture_recording,
    end_capture,
)
from motorpool.actors.video.leased_captures import LEASE, RETRY, audited, capturing_user
from motorpool.runtime import System
from motorpool.storage.accounts import audit
from motorpool.storage.database.database import Database
from motorpool.storage.devices import devices
from motorpool.storage.helpdesk import companies, ticket_captures
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.records import Device
from motorpool.storage.video.captures import CaptureRecord

NO_RIGHT = "the user of the rule may not capture video of the device"


class CaptureStarts:
    """Begins captures of devices that are connected to this server.

    Args:
        holder: tells this server from others.
        calendars: the business hours of priorities.
        mails: what assignees are mailed.
    """

    def __init__(
        self,
        database: Database,
        system: System,
        holder: str,
        calendars: BusinessCalendars,
        mails: TicketMails,
    ) -> None:
        self._database = database
        self._system = system
        self._holder = holder
        self._calendars = calendars
        self._mails = mails

    async def may_capture(self, capture: TicketCapture, *, now: datetime) -> bool:
        """Return whether the user of the rule has all the rights that it takes, at this moment."""
        user = await capturing_user(self._system, self._database, capture, now)
        if user is None:
            return False
        membership = await companies.membership(self._database, user.id, capture.company_id)
        return user.administrator or membership.handles_tickets

    async def begin(self, waiting: TicketCapture, *, now: datetime) -> TicketCapture | NotCaptured | None:
        """Begin a capture and return it, or why it will never begin; None: another server has, or later."""
        device = await devices.TABLE.fetch(self._database, waiting.device_id)
        if device is None or not await self.may_capture(waiting, now=now):
            return NotCaptured(NO_RIGHT, may_pass=False)
        if not await ticket_captures.ROWS.begin(self._database, waiting.id, self._holder, until=now + LEASE):
            return None
        capture = msgspec.structs.replace(
            waiting, status="recording", holder=self._holder, attempts=waiting.attempts + 1
        )
        record = await self._open(capture, device)
        if isinstance(record, NotCaptured):
            at = now + RETRY if record.may_pass else now
            await ticket_captures.put_back(
                self._database, capture.id, self._holder, not_before=at, refusal=record.reason
            )
            return None if record.may_pass else record
        try:
            return await self._note(capture, record, to_milliseconds(now))
        except BaseException:
            end_capture(self._system, record.id, "the ticket could not be written")
            raise

    async def _open(self, capture: TicketCapture, device: Device) -> CaptureRecord | NotCaptured:
        if not capture.live:
            return await capture_recording(
                self._system,
                device_id=device.id,
                unique_id=device.unique_id,
                channel=capture.channel,
                begins=capture.begins,
                ends=capture.ends,
                user_id=capture.user_id,
            )
        seconds = (capture.ends - capture.begins).total_seconds()
        return await begin_capture(
            self._system,
            OpenCapture(device.id, capture.channel, True, unique_id=device.unique_id, max_seconds=seconds),
        )

    async def _note(
        self, capture: TicketCapture, record: CaptureRecord, now: datetime
    ) -> TicketCapture | None:
        """Write that a capture runs; one whose ticket is gone is ended."""
        named = msgspec.structs.replace(capture, capture_id=record.id, file_name=record.file_name)
        async with self._database.transaction() as transaction:
            found = await lock_facts(transaction, [capture.ticket_id], self._calendars, now=now)
            facts = found.get(capture.ticket_id)
            is_ours = await ticket_captures.name_file(
                transaction, capture.id, self._holder, capture_id=record.id, file_name=record.file_name
            )
            if facts is None or not is_ours:
                end_capture(self._system, record.id, "the ticket was deleted")
                return None
            entry = entry_of(named, "RECORDING")
            outcome = add_evidence(facts, author_of(named), now, entry, internal=named.internal)
            changes = await write(transaction, [Change(facts, outcome)], now, self._mails)
            by_rule = audited(named, named.file_name, now, ticketId=named.ticket_id, ruleId=named.rule)
            await audit.record(transaction, by_rule)
        await announce(self._system, changes)
        return named
