"""Examples of the main bodies and answers, for the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

_TIME = "2026-06-15T12:00:00Z"
EXAMPLES: Mapping[str, Any] = {
    "Device": {
        "id": 7,
        "name": "Truck 7",
        "uniqueId": "123456789012",
        "status": "online",
        "lastUpdate": _TIME,
        "positionId": 4711,
        "groupId": 0,
        "calendarId": 0,
        "phone": None,
        "model": "MDVR",
        "contact": None,
        "category": "truck",
        "disabled": False,
        "expirationTime": None,
        "attributes": {"speedLimit": 48.6},
    },
    "Position": {
        "id": 4711,
        "deviceId": 7,
        "protocol": "jt808",
        "serverTime": "2026-06-15T12:00:01.25Z",
        "deviceTime": _TIME,
        "fixTime": _TIME,
        "outdated": False,
        "valid": True,
        "latitude": 52.5163,
        "longitude": 13.3777,
        "altitude": 35.0,
        "speed": 21.6,
        "course": 270.0,
        "address": None,
        "accuracy": 0.0,
        "network": None,
        "geofenceIds": None,
        "attributes": {"ignition": True, "totalDistance": 120345.6},
    },
    "Geofence": {
        "id": 3,
        "name": "Yard",
        "description": None,
        "area": "CIRCLE (52.5163 13.3777, 250)",
        "calendarId": 0,
        "attributes": {},
    },
}
"""Examples of answers, by record."""

_CALENDAR = (
    "QkVHSU46VkNBTEVOREFSDQpWRVJTSU9OOjIuMA0KUFJPRElEOi0vL0V4YW1wbGUvL0VODQpCRUdJTjpW"
    "RVZFTlQNClVJRDox"
    "DQpEVFNUQVJUOjIwMjYwMTA1VDA4MDAwMFoNCkRURU5EOjIwMjYwMTA1VDE3MDAwMFoNClJSVUxFOkZSRVE9V0VFS0xZO0JZREFZ"
    "PU1PLFRVLFdFLFRILEZSDQpFTkQ6VkVWRU5UDQpFTkQ6VkNBTEVOREFSDQo="
)

BODIES: Mapping[str, Any] = {
    "createSession": {"email": "ann@example.org", "password": "correct horse"},
    "createToken": {"expiration": "2030-01-01T00:00:00Z"},
    "createUser": {"name": "Ann", "email": "ann@example.org", "password": "correct horse"},
    "createDevice": {"name": "Truck 7", "uniqueId": "123456789012", "category": "truck"},
    "createGroup": {"name": "Trucks"},
    "createGeofence": {"name": "Yard", "area": "CIRCLE (52.5163 13.3777, 250)"},
    "createDriver": {"name": "Bob", "uniqueId": "D-17"},
    "createDriverAssignment": {
        "deviceId": 7,
        "driverId": 4,
        "startTime": "2026-06-15T06:00:00Z",
        "endTime": "2026-06-15T14:30:00Z",
    },
    "createMaintenance": {"name": "Oil", "type": "totalDistance", "start": 1e7, "period": 1e7},
    "createNotification": {"type": "deviceOnline", "always": True, "notificators": "web"},
    "createComputedAttribute": {
        "description": "Low battery",
        "attribute": "alarm",
        "expression": "power < 12 ? 'lowPower' : null",
        "type": "String",
    },
    "createCalendar": {"name": "Office hours", "data": _CALENDAR},
    "listWindows": {"name": "Office hours", "data": _CALENDAR, "attributes": {"timezone": "Europe/Berlin"}},
    "createFootageRequest": {
        "deviceId": 7,
        "channel": 2,
        "startTime": "2026-06-15T11:30:00Z",
        "endTime": "2026-06-15T11:35:00Z",
    },
    "createScheduledCommand": {
        "name": "Locked at night",
        "calendarId": 3,
        "onStart": [{"commandId": 5}, {"commandId": 6, "delaySeconds": 60}],
        "onEnd": [{"commandId": 8}],
        "attributes": {"queueMaxMinutes": 120},
    },
    "runScheduledCommand": {"phase": "end"},
    "createPermission": {"userId": 2, "deviceId": 7},
    "deletePermission": {"userId": 2, "deviceId": 7},
    "createPermissions": [{"userId": 2, "deviceId": 7}, {"userId": 2, "deviceId": 8}],
    "createCompany": {"name": "North Haulage", "attributes": {"roles": ["customer"]}},
    "createBranch": {"companyId": 5, "name": "Depot Leeds", "attributes": {"zone": "North"}},
    "createTeam": {"companyId": 5, "name": "Workshop"},
    "createContact": {"companyId": 5, "name": "Carla", "email": "carla@example.org"},
    "createTicketCategory": {"companyId": 5, "name": "Breakdown", "priorityId": 1},
    "createTicketPriority": {
        "companyId": 5,
        "name": "Urgent",
        "level": 1,
        "firstResponseMinutes": 15,
        "resolutionMinutes": 240,
        "calendarId": 3,
    },
    "createTicketStatus": {
        "companyId": 5,
        "name": "Waiting for parts",
        "kind": "pending",
        "sortOrder": 40,
        "attributes": {"next": [2, 6]},
    },
    "createTicketDefaults": {"companyId": 5},
    "sendCommand": {"deviceId": 7, "type": "engineStop", "attributes": {}},
    "sendAnnouncement": {"subject": "Tonight", "body": "The server is down from 2 to 3."},
    "shareDevice": {"deviceId": 7, "expiration": "2030-01-01T00:00:00Z"},
    "shareGroup": {"groupId": 4, "expiration": "2030-01-01T00:00:00Z"},
    "setAccumulators": {"deviceId": 7, "totalDistance": 120345.6, "hours": 3600000},
}
"""Examples of bodies and forms, by operation."""
