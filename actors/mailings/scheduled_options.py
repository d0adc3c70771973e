"""What a scheduled report sets of its report, in its attributes (docs/scheduled-reports.md)."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

Id = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class ScheduledOptions(msgspec.Struct, frozen=True, rename="camel"):
    """Options of reports, by the names of their parameters; other attributes say nothing."""

    daily: bool = False
    geofence_id: Annotated[tuple[Id, ...], Meta(max_length=50)] = ()
    latitude: Annotated[float, Meta(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Meta(ge=-180, le=180)] | None = None
    radius: Annotated[float, Meta(ge=10, le=5000)] | None = None

    def missing(self, report: str) -> str:
        """Return what a report cannot be without and is not set; empty for nothing."""
        if report == "geofences" and not self.geofence_id:
            return "geofenceId"
        if report == "presence" and (self.latitude is None or self.longitude is None):
            return "latitude and longitude"
        return ""

    def parameters(self) -> list[tuple[str, str]]:
        """Return those that are set, for the address of a report."""
        found = [("daily", "true")] if self.daily else []
        found += [("geofenceId", str(each)) for each in self.geofence_id]
        place = (("latitude", self.latitude), ("longitude", self.longitude), ("radius", self.radius))
        return found + [(name, f"{value:.15g}") for name, value in place if value is not None]


def read_options(attributes: Mapping[str, Any]) -> ScheduledOptions:
    """Read them from the attributes of a record.

    Raises:
        msgspec.ValidationError: one of them has a wrong type or value.
    """
    given = {name: value for name, value in attributes.items() if value is not None}
    return msgspec.convert(given, ScheduledOptions)
