"""What requests for reports have in common: parameters, checks, and the audit row
(docs/reports.md#requests).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from motorpool.actors.reports.columns import REPORTS, Report
from motorpool.actors.reports.sources import ReportQuery, Viewer
from motorpool.api.auth.rights import READ_HISTORY
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id, select_parameters
from motorpool.api.engine.spans import Instant, check_timezone
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import camel
from motorpool.api.logins.authentication import confirm_caller

_NAMES = {
    "start": "from",
    "end": "to",
    "device_ids": "deviceId",
    "group_ids": "groupId",
    "types": "type",
    "alarms": "alarm",
    "geofence_ids": "geofenceId",
    "attributes": "attribute",
    "driver_ids": "driverId",
}


def _parameter_of(field: str) -> str:
    return _NAMES.get(field) or camel(field)


class DeviceQuery(msgspec.Struct, kw_only=True, rename=_parameter_of):
    """Which devices a report covers; without any, all that the caller is linked to."""

    device_ids: tuple[Id, ...] = ()
    """These devices; others are left out."""
    group_ids: tuple[Id, ...] = ()
    """The devices of these groups, and of the groups below them."""
    mail: bool = False
    """With `Accept` of a workbook: send it by mail to the caller."""
    timezone: str = ""
    """IANA name of the time zone where neither the user nor the server has one; without it UTC."""


class PeriodQuery(DeviceQuery, kw_only=True, rename=_parameter_of):
    """Devices and a span of time, both ends included."""

    start: Instant
    end: Instant


class CallViewer(Viewer):
    """The caller of a request.

    Raises:
        BadRequest: They may not see reports.
    """

    def __init__(self, call: Call, timezone: str = "") -> None:
        READ_HISTORY.require(call.caller)
        super().__init__(call.context.system, call.caller.user, call.context.server, timezone)
        self._call = call
        self._rights_changed = False
        """Whether any right has changed since the request began."""

    async def still_visible(self, device_ids: Sequence[int]) -> Sequence[int]:
        """Return which of the devices the caller may still see.

        Raises:
            HttpError: they may not see reports any more, or are not logged in any more.
        """
        call = self._call
        if call.rights_may_have_changed:
            await confirm_caller(call)
            READ_HISTORY.require(call.caller)
            self.user = call.caller.user
            self._rights_changed = True
        return await super().still_visible(device_ids) if self._rights_changed else device_ids


def query_of(report: Report) -> type[DeviceQuery]:
    """Return the parameters of requests for a report: devices, a span, and its options."""
    if not report.has_period:
        return DeviceQuery
    return select_parameters(
        ReportQuery,
        report.options,
        name=f"{report.title}Query",
        base=PeriodQuery,
        required=report.required,
        rename=_parameter_of,
    )


async def begin_report(call: Call, name: str, sent: DeviceQuery, *, limited: bool = True) -> ReportQuery:
    """Check a request, write its audit row, and return what the report is to cover.

    A report without a span is of now, and has no audit row. `limited` says whether `reports.period_limit`
    applies.

    Raises:
        BadRequest: the caller may not see reports, or the span is too long.
    """
    READ_HISTORY.require(call.caller)
    check_timezone(sent.timezone)
    if not isinstance(sent, PeriodQuery):
        return ReportQuery(
            device_ids=sent.device_ids,
            group_ids=sent.group_ids,
            start=call.now,
            end=call.now,
            timezone=sent.timezone,
        )
    longest = REPORTS[name].longest if name in REPORTS else None
    if longest is not None and sent.end - sent.start > longest:
        raise BadRequest(f"the span is longer than {longest.days} days")
    most = call.context.settings.reports.period_limit
    if limited and most and sent.end - sent.start > timedelta(seconds=most):
        raise BadRequest(f"the span is longer than the {most:g} s that a report may cover")
    await record_action(
        call,
        call.context.database,
        "report",
        attributes={
            "type": name,
            "from": _minute(sent.start),
            "to": _minute(sent.end),
            "devices": str(list(sent.device_ids)),
            "groups": str(list(sent.group_ids)),
        },
    )
    return msgspec.convert(sent, ReportQuery, from_attributes=True)


def _minute(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M}"
