"""Reports over HTTP (docs/reports.md): the operations of each come from `REPORTS`."""

from collections.abc import Iterator

from quart import Response

from motorpool.actors.reports.columns import REPORTS, Report
from motorpool.api.engine.call import Call
from motorpool.api.engine.operations import Content, Operation
from motorpool.api.resources.reports import lists, overview, workbooks
from motorpool.api.resources.reports.requests import query_of

__all__ = ["OPERATIONS"]


def _operations(report: Report) -> Iterator[Operation]:
    """Yield those that get a report as JSON, and as a workbook that is downloaded or mailed."""
    query = query_of(report)

    async def get(call: Call) -> Response:
        sent = call.query(query)
        if workbooks.wants_workbook(call):
            return await workbooks.answer_workbook(call, report.name, sent)
        return await lists.answer_list(call, report, sent)

    async def render(call: Call) -> Response:
        return await workbooks.answer_workbook(call, report.name, call.query(query))

    yield Operation(
        method="GET",
        path=f"/reports/{report.name}",
        tag="reports",
        name=f"get_{report.name}_report",
        summary=f"Get {report.contents}{' in a span of time' * report.has_period}",
        query=query,
        answers={200: Content(shape=report.answer)},
        serve=get,
        changes=workbooks.sends_mail,
    )
    yield Operation(
        method="GET",
        path=f"/reports/{report.name}/{{type:text}}",
        tag="reports",
        name=f"render_{report.name}_report",
        summary=f"Get {report.contents} as a workbook, or have it mailed",
        query=query,
        answers=workbooks.FORMS,
        serve=render,
        changes=workbooks.sends_mail,
    )


OPERATIONS: tuple[Operation, ...] = (
    *lists.OPERATIONS,
    *(operation for report in REPORTS.values() for operation in _operations(report)),
    *workbooks.OPERATIONS,
    *overview.OPERATIONS,
)
