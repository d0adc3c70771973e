"""Settings of reports."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """Reports."""

    period_limit: Annotated[float, Meta(ge=0, extra={"unit": "s"})] = 0.0
    """Longest span of a report, except of the route; 0: any."""
    most_rows: Annotated[int, Meta(ge=0, extra={"unit": "rows"})] = 2_000_000
    """Most rows of a workbook; 0: no limit."""
    workbooks_per_user: Annotated[int, Meta(ge=1, extra={"unit": "workbooks"})] = 2
    """Workbooks that are made for one user at the same time; further requests get 429."""
    mail_bytes: Annotated[int, Meta(ge=1 << 10, le=50 << 20, extra={"unit": "bytes"})] = 10 << 20
    """Largest workbook that is mailed."""
    mails_per_hour: Annotated[int, Meta(ge=0, extra={"unit": "mails"})] = 30
    """Reports that one user may have mailed within an hour; further requests get 429."""
