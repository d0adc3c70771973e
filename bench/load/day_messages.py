"""Reports as trackers send them."""

from urllib.parse import urlencode

from motorpool.bench.roads.report import Report
from motorpool.bench.vehicles.jt808.terminal import encode_items, encode_location

KNOT_KMH = 1.852


def jt808_location(report: Report) -> bytes:
    """Return the body of a JT/T 808 location.

    It has no way of not telling the ignition, which is off then, and tells odometers in steps of 100 m.
    """
    return encode_location(
        report.latitude,
        report.longitude,
        report.fix_time,
        speed_kmh=report.speed_knots * KNOT_KMH,
        course=report.course,
        altitude=max(0.0, report.altitude),
        ignition=report.ignition is True,
        valid=report.valid,
        items=encode_items(odometer_metres=report.odometer),
    )


def osmand_query(unique_id: str, report: Report) -> str:
    """Return the query of an OsmAnd request; what it has no parameter for becomes an attribute."""
    fields = {
        "id": unique_id,
        "timestamp": str(round(report.fix_time.timestamp())),
        "lat": f"{report.latitude:.6f}",
        "lon": f"{report.longitude:.6f}",
        "valid": _flag(report.valid),
        "speed": f"{report.speed_knots:.1f}",
        "bearing": f"{report.course:.0f}",
        "altitude": f"{report.altitude:.0f}",
    }
    if report.ignition is not None:
        fields["ignition"] = _flag(report.ignition)
    if report.odometer is not None:
        fields["odometer"] = f"{report.odometer:.0f}"
    if report.archived:
        fields["archive"] = _flag(True)
    return urlencode(fields)


def _flag(value: bool) -> str:
    return "true" if value else "false"
