"""The report of sensors."""

from datetime import timedelta

import msgspec
import pytest
from tests.api.cases import on_one_server
from tests.api.resources.reports.reporting import MAY, span
from tests.api.resources.reports.test_lists import get
from tests.api.resources.reports.test_workbooks import opened, table

MINUTE = timedelta(minutes=1)
LIMITS = {"sensorLimit.temp1.max": -18, "sensorLimit.temp1.hysteresis": 1}


def cold(served, device_id, temperatures, **more):
    """A position every ten minutes."""
    return [
        served.position(device_id, MAY + 10 * index * MINUTE, attributes={"temp1": value, **more})
        for index, value in enumerate(temperatures)
    ]


async def test_values_are_put_into_intervals_with_the_time_out_of_range(served):
    device_id = await served.device(served.admin, "1", attributes=LIMITS)
    await served.report(*cold(served, device_id, [-20, -20.5, -17, -18, -18.5, -19, -21], rpm=800))
    path = f"/reports/sensors?{span(MAY, MAY + 70 * MINUTE, interval=1800)}"
    known = {"deviceId": device_id, "deviceName": "Vehicle 1", "attribute": "temp1", "unit": "°C"}
    assert await get(served.admin, path) == [
        {
            **known,
            "startTime": "2026-05-01T00:00:00Z",
            "endTime": "2026-05-01T00:30:00Z",
            "count": 3,
            "minimum": -20.5,
            "mean": pytest.approx(-19.166667),
            "maximum": -17.0,
            "last": -17.0,
            "outside": 600_000,
        },
        {
            **known,
            "startTime": "2026-05-01T00:30:00Z",
            "endTime": "2026-05-01T01:00:00Z",
            "count": 3,
            "minimum": -19.0,
            "mean": -18.5,
            "maximum": -18.0,
            "last": -19.0,
            "outside": 1_200_000,
        },
        {
            **known,
            "startTime": "2026-05-01T01:00:00Z",
            "endTime": "2026-05-01T01:10:00Z",
            "count": 1,
            "minimum": -21.0,
            "mean": -21.0,
            "maximum": -21.0,
            "last": -21.0,
            "outside": 0,
        },
    ]


async def test_attributes_are_those_asked_for_or_those_with_limits(served):
    limited = await served.device(served.admin, "1", attributes=LIMITS)
    other = await served.device(served.admin, "2")
    for device_id in (limited, other):
        await served.report(*cold(served, device_id, [-20, -21], rpm=800, mySensor=1.5, door=True))

    async def rows(**asked):
        found = await get(served.admin, f"/reports/sensors?{span(**asked)}")
        return [(each["deviceId"], each["attribute"], each["unit"], each["outside"]) for each in found[::2]]

    assert await rows() == [(limited, "temp1", "°C", 0)]
    asked = await rows(attribute=["mySensor", "temp1", "mySensor", "door", "nothing"], interval=3600)
    assert asked == [(limited, "mySensor", "", None), (other, "mySensor", "", None)]
    both = await get(served.admin, f"/reports/sensors?{span(attribute=['rpm', 'temp1'], interval=3600)}")
    assert [(each["deviceId"], each["attribute"]) for each in both] == [
        (limited, "rpm"),
        (limited, "temp1"),
        (other, "rpm"),
        (other, "temp1"),
    ]


async def test_late_positions_and_those_without_a_fix_have_their_place_in_time(served):
    device_id = await served.device(served.admin, "1", attributes=LIMITS)

    def sent(minutes, temperature, *, fix_minutes=None, **more):
        """Without a fix a position has the fix time of the last one."""
        fix = MAY + (minutes if fix_minutes is None else fix_minutes) * MINUTE
        found = served.position(device_id, MAY + minutes * MINUTE, attributes={"temp1": temperature}, **more)
        return msgspec.structs.replace(found, fix_time=fix)

    await served.report(
        sent(0, -20),
        sent(60, -10, fix_minutes=0, outdated=True),
        sent(120, -20, fix_minutes=0, outdated=True),
        sent(20, -30),
    )
    found = await get(served.admin, f"/reports/sensors?{span(MAY, MAY + 180 * MINUTE, interval=3600)}")
    assert [(each["count"], each["mean"], each["outside"]) for each in found] == [
        (2, -25.0, 0),
        (1, -10.0, 3_600_000),
        (1, -20.0, 0),
    ]
    # Those whose last fix lies before the span.
    later = await get(served.admin, f"/reports/sensors?{span(MAY + 30 * MINUTE, MAY + 90 * MINUTE)}")
    assert (later[0]["startTime"], later[0]["count"]) == ("2026-05-01T01:00:00Z", 1)
    assert sum(each["count"] for each in later) == 1
    assert sum(each["outside"] for each in later) == 1_800_000


async def test_a_month_is_bounded_whatever_interval_is_asked_for(served):
    device_id = await served.device(served.admin, "1", attributes=LIMITS)
    await served.report(*cold(served, device_id, [-20] * 30))
    month = span(MAY, MAY + timedelta(days=31), interval=60)
    found = await get(served.admin, f"/reports/sensors?{month}")
    assert [each["count"] for each in found] == [6, 6, 6, 6, 6]
    ever = {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z"}
    query = "&".join(f"{name}={value}" for name, value in ever.items())
    (whole,) = await get(served.admin, f"/reports/sensors?{query}")
    assert whole["count"] == 30


async def test_values_that_are_no_numbers_are_left_out(served):
    device_id = await served.device(served.admin, "1", attributes=LIMITS)
    await served.report(*cold(served, device_id, ["cold", True, None, [1], 1e300, -20]))
    (found,) = await get(served.admin, f"/reports/sensors?{span(interval=3600)}")
    assert (found["count"], found["last"]) == (1, -20.0)


@on_one_server(
    "wrong",
    [
        {"interval": -1},
        {"interval": "hour"},
        {"attribute": "x" * 101},
        {"attribute": [f"temp{number}" for number in range(21)]},
    ],
)
async def test_parameters_are_checked(served, wrong):
    answer = await served.admin.get(f"/reports/sensors?{span(**wrong)}")
    assert answer.status == 400, answer.text


async def test_it_opens_as_a_workbook_in_the_units_and_language_of_the_user(served):
    ann = await served.user("ann", attributes={"language": "de", "speedUnit": "mph", "volumeUnit": "usGal"})
    device_id = await served.device(served.admin, "1", attributes=LIMITS)
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": device_id})
    more = {"fuel": 37.85411784, "obdSpeed": 100, "hours": 7_200_000, "mySensor": 1.25}
    await served.report(*cold(served, device_id, [-17, -20.25], **more))
    asked = span(interval=3600, attribute=["temp1", "fuel", "obdSpeed", "hours", "mySensor"])
    book = await opened(ann, f"/reports/sensors/xlsx?{asked}")
    assert book.sheetnames == ["Vehicle 1"]
    header, titles, rows = table(book.active)
    assert header["Bericht"] == "Sensoren"
    assert titles == [
        "Beginn",
        "Sensor",
        "Minimum",
        "Mittelwert",
        "Maximum",
        "Letzter Wert",
        "Messwerte",
        "Außerhalb des Bereichs",
    ]
    start = MAY.replace(tzinfo=None)
    assert rows[0] == [start, "Temperatur 1", -20.25, -18.625, -17, -20.25, 2, 10 * MINUTE]
    assert [row[1] for row in rows[1:]] == [
        "Kraftstoff",
        "Geschwindigkeit des Fahrzeugs",
        "Motorstunden",
        "mySensor",
    ]
    assert [row[5] for row in rows[1:]] == [
        pytest.approx(10),
        pytest.approx(62.1371, abs=1e-4),
        timedelta(hours=2),
        1.25,
    ]
    assert all(row[7] is None for row in rows[1:])
    formats = [book.active.cell(line, 3).number_format for line in range(6, 11)]
    assert formats == ['0.0 "°C"', '0.0 "US gal"', '0 "mph"', "[h]:mm:ss", "General"]
