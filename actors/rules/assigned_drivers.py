"""Which of the assignments by hand a trip has its driver from (docs/drivers.md#who-drove). Pure."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from motorpool.storage.devices.driver_assignments import DriverAssignment


def assigned_driver(start: datetime, end: datetime, assigned: Iterable[DriverAssignment]) -> int | None:
    """Return the driver whose assignment covers at least half of a trip; of two the earlier one.

    `assigned` are those of the device, in order.
    """
    for each in assigned:
        common = min(end, each.end_time) - max(start, each.start_time)
        if common > timedelta(0) and 2 * common >= end - start:
            return each.driver_id
    return None
