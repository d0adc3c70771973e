"""Mails the links of scheduled reports when events of their calendars have ended (docs/scheduled-reports.md).

That an end is done with is committed together with the mails in the outbox, so each is mailed once, over
restarts and with several servers on one database.
"""

from datetime import UTC, datetime
from urllib.parse import urlencode

import msgspec

from motorpool.actors.accounts.user_rights import may_log_in, may_read_history
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.mailings.recipients import is_reachable
from motorpool.actors.mailings.scheduled_options import read_options
from motorpool.actors.mailings.texts import local_time, mail_to
from motorpool.actors.messages.scheduling import EventsEnded
from motorpool.actors.words.catalog import catalog_of
from motorpool.actors.words.preferences import preferences_for
from motorpool.runtime import Actor
from motorpool.storage.accounts import audit, links, server, users
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.deliveries import outbox
from motorpool.storage.errors import StorageError
from motorpool.storage.records import AuditAction, ScheduledReport, User
from motorpool.storage.reports import scheduled_reports

MAX_LINK_LENGTH = 2000
"""Longer links are cut by some programs: such a one is about all devices, and the page can choose."""


class ScheduledReportMails(Actor[EventsEnded]):
    """Sends nothing itself: the outbox does."""

    def __init__(self, database: Database, outgoing: OutgoingServices, console_url: str) -> None:
        self._database = database
        self._mail = outgoing.mail
        self._console_url = console_url

    async def handle(self, message: EventsEnded) -> None:
        """Queue the mails of each report; what fails is reported again by the timetable."""
        queued = 0
        for report_id in message.report_ids:
            try:
                async with self._database.transaction() as transaction:
                    queued += await self._queue(transaction, report_id, message)
            except StorageError as error:
                self.context.log.warning(
                    "the scheduled report %d cannot be mailed, another attempt follows: %s", report_id, error
                )
        if queued:
            self.context.system.ref(OUTBOX).offer(OutboxFilled())

    async def _queue(self, transaction: Queries, report_id: int, message: EventsEnded) -> int:
        """Put the mails of a report into the outbox; return how many."""
        report = await scheduled_reports.take_end(transaction, report_id, message.calendar_id, message.at)
        if report is None:
            return 0
        now = self.context.clock.now()
        settings = await server.fetch(transaction)
        user_ids = await links.owners(transaction, links.USER_REPORT, report_id)
        readers = [
            user
            for user in await users.TABLE.fetch_many(transaction, user_ids)
            if may_log_in(user, now) and may_read_history(user, settings) and is_reachable(user, self._mail)
        ]
        if not readers:
            return 0
        device_ids = await links.owners(transaction, links.DEVICE_REPORT, report_id)
        group_ids = await links.owners(transaction, links.GROUP_REPORT, report_id)
        mails = []
        for begin in message.begins:
            link = _link(self._console_url, report, (device_ids, group_ids), begin, message.at)
            for user in readers:
                preferences = preferences_for(user, settings)
                title = report.type.capitalize()
                values = {
                    "title": report.description
                    or catalog_of(preferences.language).headings.get(title, title),
                    "start": local_time(begin, preferences),
                    "end": local_time(message.at, preferences),
                }
                mails.append(mail_to(user, "scheduledReport", preferences, values, link=link))
                action = _action(user, report, (device_ids, group_ids), begin, message.at, now)
                await audit.record(transaction, action)
        await outbox.enqueue_all(transaction, mails, now=now)
        return len(mails)


def _link(
    console_url: str,
    report: ScheduledReport,
    targets: tuple[list[int], list[int]],
    begin: datetime,
    end: datetime,
) -> str:
    """Return the address of the report in the console, as the web client writes it."""
    period = [("from", _iso(begin)), ("to", _iso(end))]
    options = _options(report)
    device_ids, group_ids = targets
    chosen = [("deviceId", str(each)) for each in device_ids]
    chosen += [("groupId", str(each)) for each in group_ids]
    address = f"{console_url}/reports/{report.type}?"
    link = address + urlencode([*chosen, *options, *period])
    return link if len(link) <= MAX_LINK_LENGTH else address + urlencode([*options, *period])


def _options(report: ScheduledReport) -> list[tuple[str, str]]:
    try:
        return read_options(report.attributes).parameters()
    except msgspec.ValidationError:
        # Of a record that is older than the check of its attributes.
        return []


def _iso(instant: datetime) -> str:
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _action(
    user: User,
    report: ScheduledReport,
    targets: tuple[list[int], list[int]],
    begin: datetime,
    end: datetime,
    now: datetime,
) -> AuditAction:
    """Return the audit row of a report that was sent (docs/server.md#audit)."""
    return AuditAction(
        action_time=now,
        user_id=user.id,
        action_type="report",
        attributes={
            "type": report.type,
            "from": f"{begin.astimezone(UTC):%Y-%m-%d %H:%M}",
            "to": f"{end.astimezone(UTC):%Y-%m-%d %H:%M}",
            "devices": str(targets[0]),
            "groups": str(targets[1]),
            "scheduled": True,
        },
    )
