"""Renders the reports that users want by mail, and puts them into the outbox (docs/decisions/0163)."""

from datetime import timedelta
from functools import partial
from typing import Final

import msgspec
import trio

from motorpool.actors.accounts.user_rights import may_log_in, may_read_history
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX, OutboxFilled
from motorpool.actors.messages.conditions import MEMORY
from motorpool.actors.reports.columns import WORKBOOKS
from motorpool.actors.reports.file_names import report_file_name
from motorpool.actors.reports.render import render
from motorpool.actors.reports.settings import ReportSettings
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer
from motorpool.actors.reports.workbook import WorkbookTooLarge
from motorpool.actors.words.catalog import catalog_of, mail_templates
from motorpool.actors.work.polling import PollingActor
from motorpool.runtime import Kind
from motorpool.storage.accounts import server, users
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import outbox
from motorpool.storage.deliveries.outbox import Attachment, OutgoingMessage
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import ServerSettings, User
from motorpool.storage.reports import requested_reports
from motorpool.storage.reports.requested_reports import MAX_ATTEMPTS, RequestedReport

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
POLL_SECONDS = 60.0
"""Interval of looking for reports that another server has left."""
RENDER_SECONDS = 600.0
"""A report that takes longer is given up."""
CLAIM = timedelta(seconds=RENDER_SECONDS + 300)
"""A server that has not finished by then does not exist any more."""


class MailedReport(msgspec.Struct, frozen=True):
    """A report that is to be mailed, as it is stored."""

    name: str
    """One of `WORKBOOKS`."""
    query: ReportQuery


class ReportMailRequested(msgspec.Struct, frozen=True):
    """A request was committed."""


REPORT_MAILER: Kind[None, ReportMailRequested] = Kind("report_mailer")


class _RightEnded(Exception):
    """The user may not have the report any more."""


class ReportMailer(PollingActor[ReportMailRequested]):
    """Renders one report at a time."""

    FAILURE = "reports to be mailed wait for the database"

    def __init__(
        self,
        database: Database,
        outgoing: OutgoingServices,
        settings: ReportSettings,
    ) -> None:
        super().__init__()
        self._database = database
        self._outgoing = outgoing
        self._settings = settings

    async def start(self) -> None:
        """Make the sources, with limits of their own."""
        self._sources = Sources(
            system=self.context.system,
            database=self._database,
            geocoder=lambda: self._outgoing.geocoder,
        )

    def handle(self, message: ReportMailRequested) -> None:
        """Look for reports at once."""
        del message
        self.wake()

    async def look(self) -> float:
        """Render what waits, unless memory is short."""
        while self.context.system.conditions.find(MEMORY) is None and await self._render_next():
            pass
        return POLL_SECONDS

    async def _render_next(self) -> bool:
        """Render the next report, if there is one; return whether there was."""
        now = self.context.clock.now()
        claimed = await requested_reports.claim(self._database, now=now, until=now + CLAIM)
        if claimed is None:
            return False
        try:
            mailed = msgspec.convert(claimed.report, MailedReport)
        except msgspec.ValidationError:
            mailed = None  # of a release that has other reports
        if mailed is None or mailed.name not in WORKBOOKS or claimed.attempts > MAX_ATTEMPTS:
            self.context.log.warning("report %d cannot be rendered and is dropped", claimed.id)
            await requested_reports.finish(self._database, claimed)
            return True
        try:
            await self._mail(claimed, mailed)
        except _RightEnded:
            await requested_reports.finish(self._database, claimed)
        return True

    async def _mail(self, claimed: RequestedReport, mailed: MailedReport) -> None:
        user, settings = await self._viewer(claimed.user_id)
        sources = self._sources.for_report()
        viewer = Viewer(sources.system, user, settings, mailed.query.timezone)
        headings = catalog_of(viewer.preferences.language).headings
        titles = (report.title for report in WORKBOOKS[mailed.name])
        words = {"title": ", ".join(headings.get(title, title) for title in titles)}
        mail, attachments = "requestedReport", []
        content: bytes | None = None
        try:
            with trio.fail_after(RENDER_SECONDS):
                content = await self._content(sources, viewer, mailed)
        except WorkbookTooLarge as error:
            mail, words["reason"] = "failedReport", str(error)
        except trio.TooSlowError:
            mail = "slowReport"
        else:
            if content is None:
                mail = "largeReport"
            else:
                name = await report_file_name(mailed.name, sources, viewer, mailed.query)
                attachments.append(Attachment(name, XLSX, content))
        # Rights may have ended meanwhile.
        user, _ = await self._viewer(claimed.user_id)
        subject, text = (each.render(words) for each in mail_templates(mail, viewer.preferences.language))
        message = OutgoingMessage(
            channel="mail", user_id=user.id, to=user.email, subject=subject, text=f"{text}\n"
        )
        try:
            async with self._database.transaction() as transaction:
                if not await requested_reports.finish(transaction, claimed):
                    return  # another server took it over
                await outbox.enqueue(
                    transaction, message, now=self.context.clock.now(), attachments=attachments
                )
        except StatementRejected as error:
            self.context.log.warning("report %d cannot be mailed: %s", claimed.id, error)
            await requested_reports.finish(self._database, claimed)
            return
        self.context.system.ref(OUTBOX).offer(OutboxFilled())

    async def _content(self, sources: Sources, viewer: Viewer, mailed: MailedReport) -> bytes | None:
        """Return the workbook; None if it is too large for a mail."""
        reports = WORKBOOKS[mailed.name]
        file = await render(reports, sources, viewer, mailed.query, most_rows=self._settings.most_rows)
        with file:
            content = await sources.in_thread(partial(file.read, self._settings.mail_bytes + 1))
        return content if len(content) <= self._settings.mail_bytes else None

    async def _viewer(self, user_id: int) -> tuple[User, ServerSettings]:
        """Return the user and the settings of the server. Raises _RightEnded."""
        user = await users.TABLE.fetch(self._database, user_id)
        settings = await server.fetch(self._database)
        now = self.context.clock.now()
        if (
            user is None
            or not may_log_in(user, now)
            or not may_read_history(user, settings)
            or not self._outgoing.mail.can_reach(user.email)
        ):
            raise _RightEnded
        return user, settings
