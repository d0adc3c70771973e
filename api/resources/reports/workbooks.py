"""Reports as workbooks, downloaded or mailed, and as CSV (docs/reports.md#workbooks)."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import IO

import trio
from quart import Response

from motorpool.actors.reports.columns import WORKBOOKS, Report
from motorpool.actors.reports.csv_rows import CsvRows
from motorpool.actors.reports.file_names import report_file_name
from motorpool.actors.reports.limits import TooManyRunning
from motorpool.actors.reports.mailer import REPORT_MAILER, XLSX, MailedReport, ReportMailRequested
from motorpool.actors.reports.render import render
from motorpool.actors.reports.sources import ReportQuery, Sources
from motorpool.actors.reports.workbook import WorkbookTooLarge
from motorpool.actors.words.file_names import content_disposition
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound, TooManyRequests
from motorpool.api.http.responses import as_chunks, no_content
from motorpool.api.resources.reports.requests import (
    CallViewer,
    DeviceQuery,
    PeriodQuery,
    begin_report,
)
from motorpool.storage.reports import requested_reports

OPERATIONS = Operations("reports")

CSV = "text/csv"
CHUNK_BYTES = 256 * 1024
RETRY_SECONDS = 10.0
FORMS: Mapping[int, Content] = {
    200: Content(
        media_type=XLSX,
        other_type=CSV,
        text="`xlsx`: the workbook; `csv`: its rows, unless it consists of several reports",
    ),
    204: Content(media_type="", text="`mail`: it will be mailed to the caller"),
}


def wants_workbook(call: Call) -> bool:
    """Whether the client prefers a workbook to JSON."""
    return call.request.accept_mimetypes.best_match(["application/json", XLSX], "application/json") == XLSX


def sends_mail(call: Call) -> bool:
    """Whether a request for a report may have it mailed."""
    return call.path.get("type") == "mail" or "mail" in call.request.args


@OPERATIONS.operation(
    "GET", "/reports/history/{type:text}", query=PeriodQuery, answers=FORMS, changes=sends_mail
)
async def render_history_report(call: Call) -> Response:
    """Get the trips, stops and positions of devices as one workbook, or have it mailed."""
    return await answer_workbook(call, "history", call.query(PeriodQuery))


@OPERATIONS.operation(
    "GET", "/reports/combined/{type:text}", query=PeriodQuery, answers=FORMS, changes=sends_mail
)
async def render_combined_report(call: Call) -> Response:
    """Get the events and positions of devices as one workbook, or have it mailed."""
    return await answer_workbook(call, "combined", call.query(PeriodQuery))


async def answer_workbook(call: Call, name: str, sent: DeviceQuery) -> Response:
    """Answer with the workbook of a report, or have it mailed: as the path says, or the parameter `mail`.

    Raises:
        ResourceNotFound: the path names another form.
        BadRequest: the report has too many rows or sheets, or `begin_report` refuses it.
    """
    form = call.path.get("type", "mail" if sent.mail else "xlsx")
    first, *others = WORKBOOKS[name]
    if form not in {"xlsx", "mail", "csv"} or (form == "csv" and others):
        raise ResourceNotFound("a report is `xlsx` or `mail`, and `csv` unless it consists of several")
    query = await begin_report(call, name, sent, limited=not first.limited_by_positions)
    if form == "mail":
        return await _mail(call, name, query)
    if form == "csv":
        return await _answer_csv(call, first, query)
    call.require_memory()
    sources, viewer = call.context.reports.for_report(), CallViewer(call, query.timezone)
    file_name = await report_file_name(name, sources, viewer, query)
    try:
        with call.context.limits.workbooks.running(call.caller.id):
            file = await render(
                WORKBOOKS[name],
                sources,
                viewer,
                query,
                most_rows=call.context.settings.reports.most_rows,
            )
    except WorkbookTooLarge as error:
        raise BadRequest(str(error)) from None
    except TooManyRunning:
        raise TooManyRequests("other workbooks are being made for the user", RETRY_SECONDS) from None
    size = file.seek(0, 2)
    file.seek(0)
    return Response(
        FileChunks(file),
        200,
        headers={
            "Content-Length": str(size),
            "Content-Disposition": content_disposition(file_name),
        },
        content_type=XLSX,
    )


async def _answer_csv(call: Call, report: Report, query: ReportQuery) -> Response:
    """Answer with the rows of a report as they are read, so that memory does not grow with it."""
    sources, viewer = call.context.reports.for_report(), CallViewer(call, query.timezone)
    file_name = await report_file_name(report.name, sources, viewer, query, extension="csv")
    answer = await as_chunks(
        call.in_turns(_csv(report, sources, viewer, query)), content_type=f"{CSV}; charset=utf-8"
    )
    answer.headers["Content-Disposition"] = content_disposition(file_name)
    return answer


async def _csv(
    report: Report, sources: Sources, viewer: CallViewer, query: ReportQuery
) -> AsyncGenerator[bytes, None]:
    written = CsvRows(report, viewer.preferences)
    async with aclosing(report.read(sources, viewer, query)) as batches:
        begun = False
        async for device, items in batches:
            # Also what is read already ends with the right to it.
            if not items or (device is not None and not await viewer.still_visible((device.id,))):
                continue
            lines = written.rows(device, await report.rows(sources, viewer, items))
            yield lines if begun else written.head() + lines
            begun = True
    if not begun:
        yield written.head()


async def _mail(call: Call, name: str, query: ReportQuery) -> Response:
    """Store that the report is to be mailed: it will be, also if the server stops now."""
    user, mail = call.caller.user, call.context.outgoing.mail
    if not mail.enabled_for(user.attributes) or not mail.can_reach(user.email):
        raise BadRequest("no mail can be sent to the user")
    if wait := await call.context.limits.report_mails.hit(str(user.id)):
        raise TooManyRequests("the user has had too many reports mailed", min(wait, 3600.0))
    report = MailedReport(name, query)
    if not await requested_reports.add(call.context.database, user.id, report, now=call.now):
        raise TooManyRequests("too many reports of the user wait to be mailed", RETRY_SECONDS)
    call.context.system.ref(REPORT_MAILER).offer(ReportMailRequested())
    return no_content()


class FileChunks:
    """The content of an open file, which is closed at the end of the answer."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        chunk = await trio.to_thread.run_sync(self._file.read, CHUNK_BYTES)
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Close the file; called at the end of the answer, however it ends."""
        self._file.close()
