"""Settings of files of devices."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

Days = Annotated[int | None, Meta(ge=0, le=36_500, extra={"unit": "days"})]
"""A retention in the calendar; None where the default depends on the installation (actors/settings.py)."""
Quota = Annotated[int | None, Meta(ge=0, extra={"unit": "bytes"})]
"""A quota; None as for `Days`."""


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    """Files of devices: captures, playbacks and pictures."""

    reserve_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 512 << 20
    """Disk space that files leave free for the database."""
    quota_bytes: Quota = None
    """Most disk space of photos and files of alarms together; the oldest are deleted first. 0: unlimited;
    unset: 10737418240 (10 GiB) in a new installation, 0 in a database made before there was this default."""
    device_quota_bytes: Quota = None
    """Most disk space of the photos and files of alarms of one device; the oldest are deleted first.
    0: unlimited; unset: 1073741824 (1 GiB) in a new installation, else 0."""
    retention_days: Days = None
    """Photos and files of alarms are deleted after this time. 0: never; unset: 730 in a new installation,
    else 0."""
