"""The rows of our tables as frozen values, with the API's field names (camel case in JSON) and defaults.

References are 0 where unset, `attributes` is never None, times are aware UTC datetimes. What must never
reach JSON is no field here: password hashes stay in their column (users.credential). The one-time-code
secret is a field (`totp_key`), because the owner sets it through the API: api/ hides it on output.

Longer than other files because it is a plain list of structs, one for each table.
"""

from datetime import datetime
from typing import Any

import msgspec

__all__ = [
    "AuditAction",
    "Calendar",
    "Command",
    "ComputedAttribute",
    "Device",
    "Driver",
    "Event",
    "Geofence",
    "Group",
    "Maintenance",
    "Notification",
    "Order",
    "Position",
    "QueuedCommand",
    "ScheduledCommand",
    "ScheduledCommandRun",
    "ScheduledStep",
    "ServerSettings",
    "Session",
    "Statistics",
    "StreamMark",
    "User",
]


class User(msgspec.Struct, frozen=True, rename="camel"):
    """A user, who may log in; the fields of the specification and docs/users.md#fields."""

    id: int = 0
    name: str = ""
    login: str | None = None
    """A second name to log in with."""
    email: str = ""
    """Unique whatever its case."""
    phone: str | None = None
    readonly: bool = False
    administrator: bool = False
    map: str | None = None
    latitude: float = 0.0
    longitude: float = 0.0
    zoom: int = 0
    coordinate_format: str | None = None
    disabled: bool = False
    expiration_time: datetime | None = None
    device_limit: int = 0
    """-1 is no limit."""
    user_limit: int = 0
    """Users that they may manage; 0: the user is not a manager, -1: no limit."""
    device_readonly: bool = False
    limit_commands: bool = False
    disable_reports: bool = False
    fixed_email: bool = False
    poi_layer: str | None = None
    totp_key: str | None = None
    """Base32 secret of the one-time codes; hidden on output."""
    temporary: bool = False
    """A user made by sharing; deleted after its expiration."""
    attributes: dict[str, Any] = {}


class Group(msgspec.Struct, frozen=True, rename="camel"):
    """A group of devices; groups nest."""

    id: int = 0
    name: str = ""
    group_id: int = 0
    """The group above."""
    attributes: dict[str, Any] = {}


class Device(msgspec.Struct, frozen=True, rename="camel"):
    """A vehicle's terminal (docs/devices.md)."""

    id: int = 0
    name: str = ""
    unique_id: str = ""
    """What the hardware calls itself."""
    status: str = "offline"
    """Not in the table: actors know it. So are the next two."""
    last_update: datetime | None = None
    position_id: int = 0
    group_id: int = 0
    calendar_id: int = 0
    phone: str | None = None
    model: str | None = None
    contact: str | None = None
    category: str | None = None
    disabled: bool = False
    expiration_time: datetime | None = None
    attributes: dict[str, Any] = {}


class Position(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Where a device was, and what it reported then."""

    id: int = 0
    device_id: int = 0
    protocol: str = ""
    server_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """Arrival."""
    device_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """The device's clock."""
    fix_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When the place was found; history is ordered by it."""
    outdated: bool = False
    """The place is an older one, repeated."""
    valid: bool = False
    latitude: float = 0.0
    """Degrees, north positive."""
    longitude: float = 0.0
    """Degrees, east positive."""
    altitude: float = 0.0
    """Metres."""
    speed: float = 0.0
    """Knots over ground."""
    course: float = 0.0
    """Degrees from north, clockwise."""
    address: str | None = None
    accuracy: float = 0.0
    """Metres; 0 is unknown."""
    network: dict[str, Any] | None = None
    geofence_ids: list[int] | None = None
    attributes: dict[str, Any] = {}


class Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Something that happened to a device (docs/events.md)."""

    id: int = 0
    type: str = ""
    event_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    device_id: int = 0
    position_id: int = 0
    geofence_id: int = 0
    maintenance_id: int = 0
    attributes: dict[str, Any] = {}


class Command(msgspec.Struct, frozen=True, rename="camel"):
    """A saved command."""

    id: int = 0
    device_id: int = 0
    """Always 0 in the table: a saved command is for any device."""
    description: str = ""
    type: str = ""
    text_channel: bool = False
    """Sent as a text message."""
    attributes: dict[str, Any] = {}


class QueuedCommand(msgspec.Struct, frozen=True, rename="camel"):
    """A command that waits for its device."""

    id: int = 0
    device_id: int = 0
    type: str = ""
    text_channel: bool = False
    attributes: dict[str, Any] = {}


class Driver(msgspec.Struct, frozen=True, rename="camel"):
    """A driver (docs/http-api.md#drivers-orders-and-maintenance)."""

    id: int = 0
    name: str = ""
    unique_id: str = ""
    """What a vehicle's reader reports as `driverUniqueId`."""
    attributes: dict[str, Any] = {}


class Order(msgspec.Struct, frozen=True, rename="camel"):
    """Something to be carried from one address to another."""

    id: int = 0
    unique_id: str = ""
    """The client's own number."""
    description: str = ""
    from_address: str | None = None
    to_address: str | None = None
    attributes: dict[str, Any] = {}


class Calendar(msgspec.Struct, frozen=True, rename="camel"):
    """Times that something else asks about (docs/calendars.md)."""

    id: int = 0
    name: str = ""
    data: str = ""
    """Base64 of iCalendar text, exactly as sent."""
    attributes: dict[str, Any] = {}


class Geofence(msgspec.Struct, frozen=True, rename="camel"):
    """A place with a border (docs/geofences.md)."""

    id: int = 0
    name: str = ""
    description: str | None = None
    area: str = ""
    """`CIRCLE (lat lon, metres)`, `POLYGON ((lat lon, …))` or `LINESTRING (lat lon, …)`."""
    calendar_id: int = 0
    attributes: dict[str, Any] = {}


class Maintenance(msgspec.Struct, frozen=True, rename="camel"):
    """Something due each time a position attribute has grown so much
    (docs/http-api.md#drivers-orders-and-maintenance).
    """

    id: int = 0
    name: str = ""
    type: str = ""
    """The attribute: totalDistance, hours, …"""
    start: float = 0.0
    """In the attribute's own unit, as is `period`."""
    period: float = 0.0
    """0 is never."""
    attributes: dict[str, Any] = {}


class ComputedAttribute(msgspec.Struct, frozen=True, rename="camel"):
    """An attribute of positions that an expression computes (docs/computed-attributes.md)."""

    id: int = 0
    description: str = ""
    attribute: str = ""
    expression: str = ""
    type: str | None = None
    """String, Number or Boolean, whatever the case; None counts as String."""
    priority: int = 0
    """Negative ones run before all else; among each kind the higher first."""


class Notification(msgspec.Struct, frozen=True, rename="camel"):
    """Who is told of which events, and by what (docs/events.md#notifications)."""

    id: int = 0
    type: str = ""
    description: str | None = None
    always: bool = False
    """For all devices of the linked users."""
    web: bool = False
    mail: bool = False
    sms: bool = False
    notificators: str = ""
    """Comma list; in step with the three above."""
    calendar_id: int = 0
    command_id: int = 0
    """The saved command that the notificator `command` sends."""
    attributes: dict[str, Any] = {}


class ScheduledStep(msgspec.Struct, frozen=True, rename="camel"):
    """A saved command of a list that is sent in order."""

    command_id: int
    delay_seconds: int = 0
    """After the step before was sent; of no account for the first."""


class ScheduledCommand(msgspec.Struct, frozen=True, rename="camel"):
    """Saved commands that go out as a calendar's windows open and shut (specification, Scheduled command)."""

    id: int = 0
    name: str = ""
    description: str | None = None
    calendar_id: int = 0
    active: bool = True
    on_start: list[ScheduledStep] = []
    on_end: list[ScheduledStep] = []
    attributes: dict[str, Any] = {}


class ScheduledCommandRun(msgspec.Struct, frozen=True, rename="camel"):
    """What came of one step for one device (specification, run record)."""

    id: int
    scheduled_command_id: int
    phase: str
    """start, end or manual."""
    device_id: int
    command_id: int
    time: datetime
    """When it was sent, queued or skipped; while pending when it is due."""
    status: str
    reason: str | None = None
    """Why it was skipped, or what went wrong."""
    detail: str | None = None
    """In the device's words, where it declined."""


class Session(msgspec.Struct, frozen=True):
    """A login by cookie; never JSON."""

    id: str
    """A hash of the cookie's secret: the table alone opens no session."""
    user_id: int
    created: datetime
    last_used: datetime
    expires: datetime
    origin: str | None = None
    """The Origin header at login (docs/authentication.md#cookies)."""
    token_expires: datetime | None = None
    """Where a token began the session: it ends with the token."""


class ServerSettings(msgspec.Struct, frozen=True, rename="camel"):
    """The settings that administrators change while the server runs; one row.

    What the API's Server shows beyond this (version, openIdEnabled, newServer, …) is computed there.
    """

    id: int = 1
    registration: bool = False
    readonly: bool = False
    device_readonly: bool = False
    limit_commands: bool = False
    disable_reports: bool = False
    fixed_email: bool = False
    map: str | None = None
    bing_key: str | None = None
    map_url: str | None = None
    overlay_url: str | None = None
    poi_layer: str | None = None
    announcement: str | None = None
    latitude: float = 0.0
    longitude: float = 0.0
    zoom: int = 0
    force_settings: bool = False
    coordinate_format: str | None = None
    attributes: dict[str, Any] = {}


class AuditAction(msgspec.Struct, frozen=True, rename="camel"):
    """Who did what (docs/server.md#audit)."""

    id: int = 0
    action_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    address: str | None = None
    """Of the client."""
    user_id: int = 0
    user_email: str | None = None
    """Looked up when read; None once the user is gone."""
    action_type: str = ""
    object_type: str | None = None
    object_id: int = 0
    attributes: dict[str, Any] = {}


class Statistics(msgspec.Struct, frozen=True, rename="camel"):
    """What the server did in one day of its own time zone (docs/server.md#statistics)."""

    id: int = 0
    capture_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """Until when it is counted; within the day."""
    active_users: int = 0
    """Users who asked for anything."""
    active_devices: int = 0
    """Devices of which a position was stored."""
    requests: int = 0
    """Of those who are logged in."""
    messages_received: int = 0
    messages_stored: int = 0
    mail_sent: int = 0
    sms_sent: int = 0
    geocoder_requests: int = 0
    geolocation_requests: int = 0
    protocols: dict[str, int] | None = None
    """Active devices of each protocol."""
    attributes: dict[str, Any] = {}


class StreamMark(msgspec.Struct, frozen=True):
    """Where the numbers of a stream's playlist go on after a pause or restart."""

    next_index: int = 0
    next_discontinuity: int = 0
