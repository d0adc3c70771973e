"""The rows of the tables as immutable records, with the field names (camel case in JSON) and defaults of the
API.

References are 0 if unset, `attributes` is never None, times are aware UTC datetimes. A text that may be
absent is None, or empty here and null in JSON (`OptionalText`). Password hashes are not fields, so that they
never appear in JSON. The secret of one-time codes is a field (`User.totp_key`) because users set it through
the API, which hides it on output.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

OptionalText = Annotated[str, msgspec.Meta(extra_json_schema={"type": ["string", "null"]})]
"""A text that is written as null where it is empty (actors/words/record_json.py)."""
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""A number in a column of type integer."""
Latitude = Annotated[float, msgspec.Meta(ge=-90, le=90)]
Longitude = Annotated[float, msgspec.Meta(ge=-180, le=180)]


class User(msgspec.Struct, frozen=True, rename="camel"):
    """A user of the server (docs/users.md#fields)."""

    id: int = 0
    name: OptionalText = ""
    """Full name."""
    login: str | None = None
    """A name to log in with, beside the e-mail address."""
    email: str = ""
    """E-mail address, unique whatever its case."""
    phone: str | None = None
    """Telephone number for text messages."""
    readonly: bool = False
    """Changes nothing."""
    administrator: bool = False
    """May do everything."""
    map: str | None = None
    latitude: Latitude = 0.0
    """Where the map begins, in degrees; 0 is not set."""
    longitude: Longitude = 0.0
    """Where the map begins, in degrees; 0 is not set."""
    zoom: Int32 = 0
    coordinate_format: str | None = None
    disabled: bool = False
    """Cannot log in."""
    expiration_time: datetime | None = None
    """From then on as if disabled; null is never."""
    device_limit: Int32 = 0
    """Devices that the user may add; -1 is no limit."""
    user_limit: Int32 = 0
    """Most users that the user may manage; 0: the user is not a manager, -1: no limit."""
    device_readonly: bool = False
    """Changes no devices."""
    limit_commands: bool = False
    """Sends saved commands only."""
    disable_reports: bool = False
    """Sees no history and no reports."""
    fixed_email: bool = False
    """Keeps the e-mail address."""
    poi_layer: str | None = None
    totp_key: str | None = None
    """Base32 secret of one-time codes. Null in answers; in a body null keeps it and an empty text removes it.
    """
    temporary: bool = False
    """Made by a share link; removed after its expiration."""
    attributes: dict[str, Any] = {}


class Group(msgspec.Struct, frozen=True, rename="camel"):
    """A group of devices. Groups can be nested."""

    id: int = 0
    name: str = ""
    group_id: int = 0
    """The parent group; 0 is none."""
    attributes: dict[str, Any] = {}


class Device(msgspec.Struct, frozen=True, rename="camel"):
    """A tracking device, usually of a vehicle (docs/devices.md)."""

    id: int = 0
    name: str = ""
    unique_id: str = ""
    """The identifier that the hardware reports, such as its IMEI; unique."""
    # Not stored in the table of devices, like the next two fields: actors add them.
    status: str = "offline"
    """online, offline or unknown."""
    last_update: datetime | None = None
    """When it last sent anything."""
    position_id: int = 0
    """Its latest position; 0 is none."""
    group_id: int = 0
    calendar_id: int = 0
    """Positions are kept only while the calendar has an event; 0 is no such rule."""
    phone: str | None = None
    """Telephone number, for commands by text message."""
    model: str | None = None
    """Make and model."""
    contact: str | None = None
    """Whom to ask."""
    category: str | None = None
    """Icon on maps: car, truck, bus, …"""
    disabled: bool = False
    """Its connections are refused."""
    expiration_time: datetime | None = None
    """From then on as if disabled; null is never."""
    attributes: dict[str, Any] = {}
    """Further values by name, as clients and the server agree on them. `cameras` names cameras by their
    numbers: `{"1": "front"}`."""


class Position(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The location of a device at a time, and what it reported with it."""

    id: int = 0
    device_id: int = 0
    protocol: str = ""
    """What the device speaks."""
    server_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When the server received it."""
    device_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """The clock of the device when it reported."""
    fix_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When the location was determined; history is ordered by it."""
    outdated: bool = False
    """Whether the location is repeated from an earlier position."""
    valid: bool = False
    """The device trusts the place."""
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
    """Address of the place, where it was looked up."""
    accuracy: float = 0.0
    """Metres; 0 is unknown."""
    network: dict[str, Any] | None = None
    """Cell towers and wireless networks around the device."""
    geofence_ids: list[int] | None = None
    """Geofences that hold the place; null for none."""
    attributes: dict[str, Any] = {}
    """What the device sent and the server added, under keys that are the same for all protocols
    (docs/attributes.md)."""


Severity = Literal["CRITICAL", "WARNING", "INFO"]
ReviewState = Literal["OPEN", "ACKNOWLEDGED", "DISMISSED"]


class Review(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Whether somebody has looked at an event, one for all who see it (docs/events.md#review)."""

    state: ReviewState = "OPEN"
    """OPEN: it waits."""
    note: str | None = None
    """What the user wrote."""
    user_id: int = 0
    """Who set the state; 0: nobody has."""
    user_name: str | None = None
    """The name of that user then."""
    time: datetime | None = None
    """When the state was set."""
    version: int = 1
    """One more with each change."""


class Event(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An event of a device (docs/events.md)."""

    id: int = 0
    type: str = ""
    event_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When it happened."""
    device_id: int = 0
    position_id: int = 0
    geofence_id: int = 0
    maintenance_id: int = 0
    """The maintenance; 0 is none."""
    attributes: dict[str, Any] = {}
    """Of its type; of an alarm `alarm`, and `alarmDetail` where the device says what it is exactly
    (docs/attributes.md#alarms)."""
    severity: Severity | None = None
    """Null: of events from before the server knew severities (docs/events.md#severity)."""
    review: Review | None = None
    """Null: nobody has to look at it."""


class Command(msgspec.Struct, frozen=True, rename="camel"):
    """A saved command."""

    id: int = 0
    device_id: int = 0
    """0 in a saved command, which is for any device."""
    description: OptionalText = ""
    type: str = ""
    """One of `GET /commands/types`."""
    text_channel: bool = False
    """By text message in place of the device's connection."""
    attributes: dict[str, Any] = {}


class QueuedCommand(msgspec.Struct, frozen=True, rename="camel"):
    """A command that is queued until its device is online."""

    id: int = 0
    """Its number in the queue."""
    device_id: int = 0
    type: str = ""
    """One of `GET /commands/types`."""
    text_channel: bool = False
    attributes: dict[str, Any] = {}


class Driver(msgspec.Struct, frozen=True, rename="camel"):
    """A driver (docs/http-api.md#drivers-orders-and-maintenance)."""

    id: int = 0
    name: str = ""
    unique_id: str = ""
    """The identifier that devices report as `driverUniqueId`; unique."""
    attributes: dict[str, Any] = {}


class Order(msgspec.Struct, frozen=True, rename="camel"):
    """An order to transport something from one address to another."""

    id: int = 0
    unique_id: OptionalText = ""
    """The order number of the client."""
    description: OptionalText = ""
    from_address: str | None = None
    """Where it is picked up."""
    to_address: str | None = None
    """Where it is brought."""
    attributes: dict[str, Any] = {}


class Calendar(msgspec.Struct, frozen=True, rename="camel"):
    """A set of time spans that other records refer to (docs/calendars.md)."""

    id: int = 0
    name: str = ""
    data: str = ""
    """Base64 of iCalendar text; comes back as it was sent."""
    attributes: dict[str, Any] = {}


class Geofence(msgspec.Struct, frozen=True, rename="camel"):
    """A named area (docs/geofences.md)."""

    id: int = 0
    name: str = ""
    description: str | None = None
    area: str = ""
    """`CIRCLE (lat lon, metres)`, `POLYGON ((lat lon, …), …)` or `LINESTRING (lat lon, …)`."""
    calendar_id: int = 0
    """Entering and leaving count only while the calendar has an event; 0 is always."""
    attributes: dict[str, Any] = {}


class Maintenance(msgspec.Struct, frozen=True, rename="camel"):
    """A maintenance task that is due each time a position attribute has increased by its period
    (docs/http-api.md#drivers-orders-and-maintenance).
    """

    id: int = 0
    name: str = ""
    type: str = ""
    """The attribute of positions that is counted: totalDistance, hours, …"""
    start: float = 0.0
    """Where it is first due, in the attribute's own unit."""
    period: float = 0.0
    """How often it is due again, in the attribute's own unit; 0 is never."""
    attributes: dict[str, Any] = {}


class ComputedAttribute(msgspec.Struct, frozen=True, rename="camel"):
    """An attribute of positions that an expression computes (docs/computed-attributes.md)."""

    id: int = 0
    description: OptionalText = ""
    attribute: str = ""
    """The attribute of positions that is set."""
    expression: str = ""
    """What computes it."""
    type: Annotated[str, msgspec.Meta(extra_json_schema={"examples": ["String", "Number", "Boolean"]})] = ""
    """String, Number or Boolean, whatever the case."""
    priority: Int32 = 0
    """Negative priorities run before everything else; higher priorities run first within each group."""


class Notification(msgspec.Struct, frozen=True, rename="camel"):
    """Which events users are notified of, and by which channels (docs/events.md#notifications)."""

    id: int = 0
    type: str = ""
    """One of `GET /notifications/types`."""
    description: str | None = None
    always: bool = False
    """Whether it applies to all devices of the linked users."""
    web: bool = False
    """To the socket."""
    mail: bool = False
    """By mail."""
    sms: bool = False
    """By text message."""
    notificators: str = ""
    """Comma list of `GET /notifications/notificators`, in step with web, mail and sms."""
    calendar_id: int = 0
    """Only while the calendar has an event; 0 is always."""
    command_id: int = 0
    """The saved command that the notificator `command` sends; 0 is none."""
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
    """What was run."""
    phase: str
    """start, end or manual."""
    device_id: int
    """To which device."""
    command_id: int
    """The saved command of the step."""
    time: datetime
    """When it was sent, queued or skipped; for a pending run, when it is due."""
    status: str
    """pending, sent, queued, delivered, skipped or failed."""
    reason: str | None = None
    """Why it was skipped: offline, queue_expired, superseded, schedule_inactive, missed, no_permission,
    device_not_found, command_not_found or not_sent; or why it failed; else null."""
    detail: str | None = None
    """More about the reason, such as the reply of a device that rejected the command; or null."""


class Session(msgspec.Struct, frozen=True):
    """A session of a user who logged in by cookie; never encoded as JSON."""

    id: str
    """A hash of the secret in the cookie, so that the contents of the table open no session."""
    user_id: int
    created: datetime
    """When who opened it logged in; one that is opened from another as another user continues its life."""
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
    view_only: bool = False
    """Whether nothing can be changed in it: it was opened to see what another user sees."""
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
    """The calendar; 0 is none."""
    attributes: dict[str, Any] = {}
    """Options of the report: `daily` (boolean), `geofenceId` (list), `latitude`, `longitude`, `radius`."""


class ServerSettings(msgspec.Struct, frozen=True, rename="camel"):
    """The settings that administrators change at run time; a single row.

    The API computes the other fields of its Server object (version, openIdEnabled, newServer, …).
    """

    id: int = 1
    """Always 1; absent or 0 in a body counts as that."""
    registration: bool = False
    """Visitors may create a user for themselves."""
    readonly: bool = False
    """Default of `readonly` for new users; with `forceSettings` it binds all but administrators."""
    device_readonly: bool = False
    """Default of `deviceReadonly` for new users; with `forceSettings` it binds all but administrators."""
    limit_commands: bool = False
    """Default of `limitCommands` for new users; with `forceSettings` it binds all but administrators."""
    disable_reports: bool = False
    """Default of `disableReports` for new users; with `forceSettings` it binds all but administrators."""
    fixed_email: bool = False
    """Default of `fixedEmail` for new users; with `forceSettings` it binds all but administrators."""
    map: str | None = None
    bing_key: str | None = None
    """Key of a map service."""
    map_url: str | None = None
    """Address of a map of one's own."""
    overlay_url: str | None = None
    """Address of map tiles laid over the map."""
    poi_layer: str | None = None
    announcement: str | None = None
    """Shown on the login page."""
    latitude: Latitude = 0.0
    longitude: Longitude = 0.0
    zoom: Int32 = 0
    force_settings: bool = False
    """The server's preferences win over those of users; its restrictions act on all but administrators."""
    coordinate_format: str | None = None
    attributes: dict[str, Any] = {}


class AuditAction(msgspec.Struct, frozen=True, rename="camel"):
    """An action of a user or of the server (docs/server.md#audit)."""

    id: int = 0
    action_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """When it was done."""
    address: str | None = None
    """The client's address."""
    user_id: int = 0
    """The user who did it; 0 if unknown."""
    user_email: str | None = None
    """The user's current e-mail address; null once the user is gone."""
    action_type: str = ""
    """login, create, edit, link, …"""
    object_type: str | None = None
    """What it was done to: device, user, …"""
    object_id: int = 0
    """Its id; 0 is none."""
    attributes: dict[str, Any] = {}


class Statistics(msgspec.Struct, frozen=True, rename="camel"):
    """Statistics of one day in the time zone of the server (docs/server.md#statistics)."""

    id: int = 0
    capture_time: datetime = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    """Until when the day is counted."""
    active_users: int = 0
    """Users who sent at least one request."""
    active_devices: int = 0
    """Devices with at least one stored position."""
    requests: int = 0
    """Requests of logged-in users."""
    messages_received: int = 0
    """Messages that devices sent."""
    messages_stored: int = 0
    """Positions stored."""
    mail_sent: int = 0
    """Mails sent."""
    sms_sent: int = 0
    """Text messages sent."""
    geocoder_requests: int = 0
    """Addresses asked for."""
    geolocation_requests: int = 0
    """Places asked for by cell towers."""
    protocols: dict[str, int] | None = None
    """Number of active devices by protocol."""
    attributes: dict[str, Any] = {}
