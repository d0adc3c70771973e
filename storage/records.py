"""The rows of the tables as immutable records, with the field names (camel case in JSON) and defaults of the
API.

References are 0 if unset, `attributes` is never None, times are aware UTC datetimes. Password hashes are not
fields, so that they never appear in JSON. The secret of one-time codes is a field (`User.totp_key`) because
users set it through the API, which hides it on output.
"""

from datetime import datetime
from typing import Any

import msgspec


class User(msgspec.Struct, frozen=True, rename="camel"):
    """A user of the server (docs/users.md#fields)."""

    id: int = 0
    name: str = ""
    login: str | None = None
    """A name to log in with, beside the e-mail address."""
    email: str = ""
    """Unique, ignoring case."""
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
    """Most devices; -1: no limit."""
    user_limit: int = 0
    """Most users that they may manage; 0: the user is not a manager, -1: no limit."""
    device_readonly: bool = False
    limit_commands: bool = False
    disable_reports: bool = False
    fixed_email: bool = False
    poi_layer: str | None = None
    totp_key: str | None = None
    """Base32 secret of the one-time codes; hidden on output."""
    temporary: bool = False
    """Created by sharing a device; deleted on expiration."""
    attributes: dict[str, Any] = {}


class Group(msgspec.Struct, frozen=True, rename="camel"):
    """A group of devices. Groups can be nested."""

    id: int = 0
    name: str = ""
    group_id: int = 0
    """The parent group."""
    attributes: dict[str, Any] = {}


class Device(msgspec.Struct, frozen=True, rename="camel"):
    """A tracking device, usually of a vehicle (docs/devices.md)."""

    id: int = 0
    name: str = ""
    unique_id: str = ""
    """The identifier that the hardware reports, such as its IMEI."""
    status: str = "offline"
    """Not stored in the table of devices, like the next two fields: actors add them."""
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
    """The location of a device at a time, and what it reported with it."""

    id: int = 0
    device_id: int = 0
    protocol: str = ""
    server_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When the server received it."""
    device_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """The clock of the device when it reported."""
    fix_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When the location was determined; history is ordered by it."""
    outdated: bool = False
    """Whether the location is repeated from an earlier position."""
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
    """An event of a device (docs/events.md)."""

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
    """Not stored: a saved command is not bound to a device."""
    description: str = ""
    type: str = ""
    text_channel: bool = False
    """Whether it is sent as a text message (SMS)."""
    attributes: dict[str, Any] = {}


class QueuedCommand(msgspec.Struct, frozen=True, rename="camel"):
    """A command that is queued until its device is online."""

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
    """The identifier that devices report as `driverUniqueId`."""
    attributes: dict[str, Any] = {}


class Order(msgspec.Struct, frozen=True, rename="camel"):
    """An order to transport something from one address to another."""

    id: int = 0
    unique_id: str = ""
    """The order number of the client."""
    description: str = ""
    from_address: str | None = None
    to_address: str | None = None
    attributes: dict[str, Any] = {}


class Calendar(msgspec.Struct, frozen=True, rename="camel"):
    """A set of time spans that other records refer to (docs/calendars.md)."""

    id: int = 0
    name: str = ""
    data: str = ""
    """iCalendar text in base64, exactly as the client sent it."""
    attributes: dict[str, Any] = {}


class Geofence(msgspec.Struct, frozen=True, rename="camel"):
    """A named area (docs/geofences.md)."""

    id: int = 0
    name: str = ""
    description: str | None = None
    area: str = ""
    """`CIRCLE (lat lon, metres)`, `POLYGON ((lat lon, …), …)` or `LINESTRING (lat lon, …)`."""
    calendar_id: int = 0
    attributes: dict[str, Any] = {}


class Maintenance(msgspec.Struct, frozen=True, rename="camel"):
    """A maintenance task that is due each time a position attribute has increased by its period
    (docs/http-api.md#drivers-orders-and-maintenance).
    """

    id: int = 0
    name: str = ""
    type: str = ""
    """Name of the attribute, such as totalDistance or hours."""
    start: float = 0.0
    """The value at which the first period begins, in the unit of the attribute, like `period`."""
    period: float = 0.0
    """0: never due."""
    attributes: dict[str, Any] = {}


class ComputedAttribute(msgspec.Struct, frozen=True, rename="camel"):
    """An attribute of positions that an expression computes (docs/computed-attributes.md)."""

    id: int = 0
    description: str = ""
    attribute: str = ""
    expression: str = ""
    type: str | None = None
    """String, Number or Boolean, ignoring case; None means String."""
    priority: int = 0
    """Negative priorities run before everything else; higher priorities run first within each group."""


class Notification(msgspec.Struct, frozen=True, rename="camel"):
    """Which events users are notified of, and by which channels (docs/events.md#notifications)."""

    id: int = 0
    type: str = ""
    description: str | None = None
    always: bool = False
    """Whether it applies to all devices of the linked users."""
    web: bool = False
    mail: bool = False
    sms: bool = False
    notificators: str = ""
    """Comma-separated channels; consistent with the three fields above."""
    calendar_id: int = 0
    command_id: int = 0
    """The saved command that the notificator `command` sends."""
    attributes: dict[str, Any] = {}


class ScheduledStep(msgspec.Struct, frozen=True, rename="camel"):
    """A step of a scheduled command: a saved command and the delay before it."""

    command_id: int
    delay_seconds: int = 0
    """Delay after the previous step was sent; ignored for the first step."""


class ScheduledCommand(msgspec.Struct, frozen=True, rename="camel"):
    """Saved commands that are sent at the starts and ends of the windows of a calendar."""

    id: int = 0
    name: str = ""
    description: str | None = None
    calendar_id: int = 0
    active: bool = True
    on_start: list[ScheduledStep] = []
    on_end: list[ScheduledStep] = []
    attributes: dict[str, Any] = {}


class ScheduledCommandRun(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of one step of a scheduled command for one device."""

    id: int
    scheduled_command_id: int
    phase: str
    """start, end or manual."""
    device_id: int
    command_id: int
    time: datetime
    """When it was sent, queued or skipped; for a pending run, when it is due."""
    status: str
    reason: str | None = None
    """Why it was skipped or failed."""
    detail: str | None = None
    """The reply of the device if it rejected the command."""


class Session(msgspec.Struct, frozen=True):
    """A session of a user who logged in by cookie; never encoded as JSON."""

    id: str
    """A hash of the secret in the cookie, so that the contents of the table open no session."""
    user_id: int
    created: datetime
    last_used: datetime
    expires: datetime
    origin: str | None = None
    """The Origin header at login (docs/authentication.md#cookies)."""
    token_expires: datetime | None = None
    """The expiry of the token that opened the session, which ends with it; None without a token."""
    token_id: str | None = None
    """The id of that token; None also for sessions of earlier versions."""
    impersonator_id: int = 0
    """Who opened the session as another user; 0 if it is the user's own."""
    address: str | None = None
    """The address from which it was opened."""
    user_agent: str | None = None
    """The header of that name at login."""


class ScheduledReport(msgspec.Struct, frozen=True, rename="camel"):
    """A report whose link is mailed when events of a calendar end (docs/scheduled-reports.md)."""

    id: int = 0
    description: str | None = None
    type: str = ""
    calendar_id: int = 0
    attributes: dict[str, Any] = {}
    """`daily` (boolean): of a summary, one row for each day."""


class ServerSettings(msgspec.Struct, frozen=True, rename="camel"):
    """The settings that administrators change at run time; a single row.

    The API computes the other fields of its Server object (version, openIdEnabled, newServer, …).
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
    """An action of a user or of the server (docs/server.md#audit)."""

    id: int = 0
    action_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    address: str | None = None
    """The address of the client."""
    user_id: int = 0
    user_email: str | None = None
    """The current address of the user; None if the user has been deleted."""
    action_type: str = ""
    object_type: str | None = None
    object_id: int = 0
    attributes: dict[str, Any] = {}


class Statistics(msgspec.Struct, frozen=True, rename="camel"):
    """Statistics of one day in the time zone of the server (docs/server.md#statistics)."""

    id: int = 0
    capture_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """The time up to which is counted; within the day."""
    active_users: int = 0
    """Users who sent at least one request."""
    active_devices: int = 0
    """Devices with at least one stored position."""
    requests: int = 0
    """Requests of logged-in users."""
    messages_received: int = 0
    messages_stored: int = 0
    mail_sent: int = 0
    sms_sent: int = 0
    geocoder_requests: int = 0
    geolocation_requests: int = 0
    protocols: dict[str, int] | None = None
    """Number of active devices by protocol."""
    attributes: dict[str, Any] = {}


class StreamMark(msgspec.Struct, frozen=True):
    """The numbers with which the playlist of a stream continues after a pause or restart."""

    next_index: int = 0
    next_discontinuity: int = 0
