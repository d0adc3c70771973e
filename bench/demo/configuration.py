"""The demonstration's configuration, made before its vehicles report: rights, places, rules and plans."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from motorpool.bench.demo.api import Api, Row
from motorpool.bench.demo.helpdesk import configure_helpdesk
from motorpool.bench.demo.vehicles import group_of
from motorpool.bench.target import Account
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.fleet import Fleet
from motorpool.bench.vehicles.vehicle import Vehicle

KNOTS = 1.852
"""Kilometres an hour."""
VEHICLE_GROUPS = ("Deliveries", "Shuttles", "Service")
WALL = ("Van 01", "Van 03", "Bus 04", "Bus 05")
GROUPS = (*VEHICLE_GROUPS, "Bicycles")
DRIVERS = (
    ("Anna Lehmann", "D-1001", "Van 01"),
    ("Murat Yilmaz", "D-1002", "Van 02"),
    ("Jonas Weber", "D-1003", "Bus 04"),
    ("Sofia Rossi", "D-1004", "Van 06"),
)
OFFICE_HOURS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Motorpool//demo//EN
BEGIN:VEVENT
UID:office-hours@motorpool.local
SUMMARY:Office hours
DTSTART;TZID=Europe/Berlin:20260105T080000
DTEND;TZID=Europe/Berlin:20260105T180000
RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
END:VEVENT
END:VCALENDAR
"""
NIGHTS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Motorpool//demo//EN
BEGIN:VEVENT
UID:nights@motorpool.local
SUMMARY:Nights
DTSTART;TZID=Europe/Berlin:20260105T220000
DTEND;TZID=Europe/Berlin:20260106T050000
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""
NIGHT = datetime(2026, 1, 2, 2, 30, tzinfo=UTC)


async def configure(api: Api, fleet: Fleet, devices: Mapping[str, Row], operator: Account) -> None:
    """Create groups, users, geofences and the rest; `devices` are rows by the name of the device."""
    me = await api.row("/session")
    wall = "&".join(f"tile={devices[name]['id']}.1" for name in WALL)
    attributes = {**me["attributes"], "console.walls": [{"name": "Roads", "query": f"{wall}&layout=2x2"}]}
    await api.put(f"/users/{me['id']}", {**me, "name": "Ada Administrator", "attributes": attributes})
    groups = await _make_groups(api, devices)
    everybody = groups["Berlin"]["id"]
    calendars = {
        name: await api.ensure("/calendars", {"name": name, "data": base64.b64encode(text.encode()).decode()})
        for name, text in (("Office hours", OFFICE_HOURS), ("Nights", NIGHTS))
    }
    geofences = await _make_geofences(api, fleet)
    await api.link([{"groupId": everybody, "geofenceId": each["id"]} for each in geofences])
    await _make_drivers(api, devices)
    await _make_rules(api, [groups[name]["id"] for name in VEHICLE_GROUPS])
    commands = await _make_commands(api, groups, calendars["Nights"]["id"])
    notifications = await _make_notifications(api)
    user = await _make_operator(api, operator, groups, geofences, commands, notifications)
    await configure_helpdesk(api, devices, user, calendars["Office hours"]["id"], geofences[0]["id"])


async def _make_groups(api: Api, devices: Mapping[str, Row]) -> dict[str, Row]:
    attributes = {
        "processing.useLinkedDriver": True,
        "fuelIncreaseThreshold": 20,
        "cameras": {"1": "front", "2": "rear", "3": "left", "4": "right"},
    }
    groups = {"Berlin": await api.ensure("/groups", {"name": "Berlin", "attributes": attributes})}
    for name in GROUPS:
        groups[name] = await api.ensure("/groups", {"name": name, "groupId": groups["Berlin"]["id"]})
    for name, device in devices.items():
        if not device.get("groupId"):
            await api.put(f"/devices/{device['id']}", {**device, "groupId": groups[group_of(name)]["id"]})
    return groups


async def _make_geofences(api: Api, fleet: Fleet) -> list[Row]:
    """Create a circle at each of two depots, a polygon, and a corridor with a speed limit."""
    rows: list[Row] = []
    for plan, name in ((fleet.vehicles[0], "Depot West"), (fleet.vehicles[3], "Depot South")):
        depot = Vehicle(plan).state_at(NIGHT)
        area = f"CIRCLE ({depot.latitude:.5f} {depot.longitude:.5f}, 150)"
        rows.append({"name": name, "area": area, "attributes": {"color": "#3fa66b"}})
    square = ((52.5232, 13.4085), (52.5236, 13.4165), (52.5203, 13.4195), (52.5189, 13.4120))
    corners = ", ".join(f"{latitude} {longitude}" for latitude, longitude in (*square, square[0]))
    rows.append(
        {
            "name": "Alexanderplatz",
            "description": "Deliveries only before eleven",
            "area": f"POLYGON (({corners}))",
            "attributes": {"color": "#e0793a"},
        }
    )
    avenue = [(point.latitude, point.longitude) for point in ROUND_TRIPS[1].waypoints[1:5]]
    line = ", ".join(f"{latitude} {longitude}" for latitude, longitude in avenue)
    limit = {"color": "#a56bd0", "polylineDistance": 60, "speedLimit": 45 / KNOTS}
    rows.append({"name": "Karl-Marx-Allee 45 km/h", "area": f"LINESTRING ({line})", "attributes": limit})
    return [await api.ensure("/geofences", row) for row in rows]


async def _make_drivers(api: Api, devices: Mapping[str, Row]) -> None:
    for name, unique_id, vehicle in DRIVERS:
        driver = await api.ensure("/drivers", {"name": name, "uniqueId": unique_id})
        await api.link([{"deviceId": devices[vehicle]["id"], "driverId": driver["id"]}])


async def _make_rules(api: Api, groups: Sequence[int]) -> None:
    """Create maintenance and computed attributes of the vehicles."""
    service: Row = {"name": "Service", "type": "totalDistance", "start": 250_000, "period": 500_000}
    made = await api.ensure("/maintenance", service)
    await api.link([{"groupId": group, "maintenanceId": made["id"]} for group in groups])
    for description, attribute, expression, kind in (
        ("Tank in percent", "fuelPercent", "(fuel ?? 0) > 0 ? math:round(fuel / 60 * 100) : null", "number"),
        (
            "Driving, idling or parked",
            "activity",
            "ignition ? (motion ? 'driving' : 'idling') : 'parked'",
            "string",
        ),
    ):
        row: Row = {
            "description": description,
            "attribute": attribute,
            "expression": expression,
            "type": kind,
        }
        computed = await api.ensure("/attributes/computed", row, key="description")
        await api.link([{"groupId": group, "attributeId": computed["id"]} for group in groups])


async def _make_commands(api: Api, groups: Mapping[str, Row], nights: int) -> list[Row]:
    """Create saved commands, and a schedule that uses two of them."""
    commands = [
        await api.ensure("/commands", row, key="description")
        for row in (
            {"description": "Where are you?", "type": "positionSingle"},
            {"description": "Photo of the road", "type": "requestPhoto", "attributes": {"channel": 1}},
            {"description": "Report every 30 s", "type": "positionPeriodic", "attributes": {"frequency": 30}},
            {"description": "Report every 5 s", "type": "positionPeriodic", "attributes": {"frequency": 5}},
        )
    ]
    for command in commands:
        for name in VEHICLE_GROUPS:
            await api.link([{"groupId": groups[name]["id"], "commandId": command["id"]}])
    schedule = await api.ensure(
        "/scheduledcommands",
        {
            "name": "Where the service vans are at night",
            "description": "Asks at 22:00 and at 5:00",
            "calendarId": nights,
            "active": True,
            "onStart": [{"commandId": commands[0]["id"]}],
            "onEnd": [{"commandId": commands[0]["id"]}],
            "attributes": {"queueMaxMinutes": 60},
        },
    )
    await api.link([{"groupId": groups["Service"]["id"], "scheduledCommandId": schedule["id"]}])
    return commands


async def _make_notifications(api: Api) -> list[Row]:
    return [
        await api.ensure("/notifications", {"always": True, "notificators": "web", **row}, key="type")
        for row in (
            {
                "type": "alarm",
                "attributes": {"alarms": "sos,general,fatigueDriving,laneChange", "priority": True},
            },
            {"type": "deviceOverspeed"},
            {"type": "maintenance"},
        )
    ]


async def _make_operator(
    api: Api,
    operator: Account,
    groups: Mapping[str, Row],
    geofences: list[Row],
    commands: list[Row],
    notifications: list[Row],
) -> int:
    """Create the user who sees two groups and may send saved commands only, and return the id."""
    body: Row = {
        "name": "Olivia Operator",
        "email": operator.email,
        "password": operator.password,
        "deviceReadonly": True,
        "limitCommands": True,
    }
    user: int = (await api.ensure("/users", body, key="email"))["id"]
    await api.link(
        [
            *({"userId": user, "groupId": groups[name]["id"]} for name in ("Deliveries", "Bicycles")),
            *({"userId": user, "geofenceId": each["id"]} for each in geofences),
            *({"userId": user, "commandId": each["id"]} for each in commands[:2]),
            *({"userId": user, "notificationId": each["id"]} for each in notifications),
        ]
    )
    return user
