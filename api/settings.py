"""Every setting of the server: its name, default, unit and one sentence (docs/decisions/0005).

A key of `[section]` in motorpool.toml is `MOTORPOOL_SECTION_KEY` in the environment; keys without a section
stand at the top of the file. Sections that actors or the database use are defined with them.

The docstring of a field is the sentence that `motorpool settings` prints; `Meta` holds the bounds (`ge`,
`le`, and `max_length` of a list) and in `extra`:

- `unit`: the unit of a number.
- `choices`: the values allowed.
- `form`: a further check of the text: "address", "url", "service", "mailbox", "networks", "zone",
  "forward", "topic", "tiles", "tilesUrl", "layer", "origin", "pmtiles", "node", "nats"
  or "database".
- `key`: the attribute of devices and groups that goes before the setting.
- `secret`: the value is never printed, not even in an error.
- `destination`: where the secrets of the section are sent to, or how: who changes it gives them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.settings import FleetSettings
from motorpool.api.login_settings import LoginSettings, OpenIdSettings, ShareSettings, UserSettings
from motorpool.api.map_settings import MapSettings
from motorpool.storage.settings import ROLES, DatabaseSettings, EncryptionSettings, PostgresSettings

Place = tuple[str, str]
"""Section and name of a setting; the section of top-level keys is ""."""
Source = Literal["file", "environment"]

ORDER = (
    *("data", "bind", "nodes", "database", "protocols"),
    *(each.name for each in NOTIFICATORS if each.settings is not None),
    *("device", "public", "port", "cluster", "node", "link", "admin", "register", "webhook", "http", "login"),
    *("users", "share", "openid", "geocoder", "map", "outbox", "notifications", "expirations"),
    *("forward", "video", "files", "captures", "positions", "events", "audit", "statistics"),
    *("schedules", "rules", "reports", "tickets", "quotas", "log", "postgres", "encryption"),
)
"""The fields of `Settings`, inherited ones too, in the order in which users read them."""


@dataclass(frozen=True, kw_only=True)
class AdminSettings:
    """The first administrator."""

    email: str | None = None
    """With `password`: creates this administrator if there has never been a user."""
    password: Annotated[str | None, Meta(extra={"secret": True})] = None
    """Password of that administrator."""


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """Several servers on one database."""

    name: str | None = None
    """The same for all servers of a database; unset: this one is alone, and another one does not start."""


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """This server, as the others of its cluster see it."""

    address: Annotated[str | None, Meta(extra={"form": "node"})] = None
    """Where the others reach it for video, and where it listens for them: `http://10.0.0.5:8083`; with
    `cluster.name`. The network between must be private: it is not encrypted."""
    roles: Annotated[tuple[str, ...], Meta(extra={"form": "role"})] = ROLES
    """What it does for the cluster: open the ports of `devices`, serve users (`api`), take `duties`. Less
    needs `cluster.name`, and without `api` also `node.address`."""


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """NATS between the servers of a cluster, for commands and live updates; the same at all of them."""

    url: Annotated[str | None, Meta(extra={"form": "nats", "secret": True})] = None
    """Where NATS is, such as `nats://10.0.0.21:4222`, or `tls://`; several with commas between. With
    `cluster.name`; unset: the servers have PostgreSQL alone."""
    credentials: Path | None = None
    """A file with `user:password`, or a token, if NATS wants one."""
    ca: Path | None = None
    """Certificates in PEM that NATS's is checked with, in place of the system's."""


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """What outgoing calls may reach."""

    allow: Annotated[tuple[str, ...], Meta(extra={"form": "networks"})] = ()
    """Private networks that webhooks and other outgoing calls may reach."""


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """The HTTP server; Hypercorn's own defaults are not for a server that holds many clients."""

    keep_alive_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 75.0
    """An idle HTTP connection is closed after this."""
    head_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 20.0
    """The headers of a request must be complete within this time after their first byte."""
    idle_seconds: Annotated[float, Meta(ge=30, extra={"unit": "s"})] = 300.0
    """A connection whose client sends nothing at all is closed after this."""
    body_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 60.0
    """A request body must have arrived within this."""
    stall_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 30.0
    """How long a client may take no byte of an answer before it is dropped."""
    requests_per_connection: Annotated[int, Meta(ge=1, extra={"unit": "requests"})] = 100000
    """Requests after which a connection is closed."""
    connections: Annotated[int, Meta(ge=8, extra={"unit": "connections"})] = 10000
    """Connections served at once, as far as a quarter of the limit of open files allows; more wait to be
    accepted. The last tenth is for addresses with at most one."""
    connections_per_address: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 1000
    """Connections of one address (IPv6: one /64 network) that is not a trusted proxy; more are refused."""
    backlog: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 1024
    """Connections the system may queue for us."""
    body_bytes: Annotated[int, Meta(ge=1024, extra={"unit": "bytes"})] = 16 * 1024 * 1024
    """Largest upload; beyond it 413. Forms and JSON have smaller limits (docs/http-api.md)."""
    json_depth: Annotated[int, Meta(ge=4, le=200, extra={"unit": "levels"})] = 32
    """Deepest nesting of a JSON body."""
    trusted_proxies: Annotated[tuple[str, ...], Meta(extra={"form": "networks"})] = ()
    """Networks of proxies whose X-Forwarded headers are believed."""
    cors_origin: str | None = None
    """Origins that browsers may call from, comma-separated; `*` means any."""
    cookie_secure: bool = False
    """Treats each client as one that uses TLS, in the names and marks of cookies: behind a proxy that is not
    trusted."""
    hsts: Annotated[str | None, Meta(extra={"choices": ("off", "host", "subdomains")})] = None
    """Strict-Transport-Security: whether browsers shall use nothing but TLS for a year, for this host or for
    its subdomains too. Unset: `subdomains` with `tls_certificate`, else `off`; where a proxy speaks TLS it is
    sent with answers to requests of `X-Forwarded-Proto: https`."""
    session_days: Annotated[float, Meta(ge=0.001, extra={"unit": "days"})] = 30.0
    """A session that is not used ends after this."""
    session_max_days: Annotated[float, Meta(ge=0.001, extra={"unit": "days"})] = 90.0
    """A session ends after this, however often it is used."""
    token_max_days: Annotated[float, Meta(ge=0.001, le=36500, extra={"unit": "days"})] = 3650.0
    """Tokens and share links end after this at the latest, whatever expiration was requested."""
    metrics_allow: Annotated[tuple[str, ...], Meta(extra={"form": "networks"})] = ("127.0.0.0/8", "::1/128")
    """Networks that may read /metrics without the credentials of an administrator."""
    tls_certificate: Path | None = None
    """Certificate chain in PEM; with `tls_key` HTTPS is served."""
    tls_key: Path | None = None
    """Private key of the certificate in PEM."""
    socket_keepalive_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 55.0
    """Interval at which an empty object is sent on /api/socket."""
    show_unknown_devices: bool = True
    """Whether administrators who look at the traffic of devices also see the traffic of unknown devices."""
    sockets_per_user: Annotated[int, Meta(ge=1, extra={"unit": "sockets"})] = 100
    """Open /api/socket of one user; more are refused with 429."""
    sockets_per_address: Annotated[int, Meta(ge=1, extra={"unit": "sockets"})] = 1000
    """Open /api/socket of one client address (IPv6: one /64 network); more are refused with 429."""


@dataclass(frozen=True, kw_only=True)
class QuotaSettings:
    """How much users may store of what costs time later. What is more already stays, and does not grow."""

    user_records: Annotated[int, Meta(ge=1)] = 20_000
    """Geofences that one user creates, and as many drivers, orders, maintenances, calendars, saved commands
    and groups. Administrators are bound by what all may have."""
    user_bytes: Annotated[int, Meta(ge=1, extra={"unit": "bytes"})] = 16 << 20
    """Bytes of attributes, areas and calendar texts of the geofences that one user creates, and as many of
    each other kind of `user_records` and `user_tasks`, and of devices."""
    user_geofence_points: Annotated[int, Meta(ge=1, extra={"unit": "points"})] = 200_000
    """Points of all geofences that one user creates."""
    user_tasks: Annotated[int, Meta(ge=1)] = 500
    """Notifications that one user creates, and as many scheduled commands and scheduled reports."""
    user_calendar_cost: Annotated[int, Meta(ge=1, extra={"unit": "steps"})] = 2_000_000
    """Cost of all calendars that one user creates; shifts of a week cost some hundred steps."""
    user_notified: Annotated[int, Meta(ge=1, extra={"unit": "links"})] = 5_000
    """Links of users to the notifications that one user creates: an event is compared with each of them."""
    user_ticket_rules: Annotated[int, Meta(ge=1, extra={"unit": "rules"})] = 200
    """Ticket rules of all companies that one user creates."""
    user_kept_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 2 << 30
    """Bytes of the captures and files that one user keeps from age and quotas. Administrators are bound by
    what all may keep."""
    server_kept_bytes: Annotated[int, Meta(ge=0, extra={"unit": "bytes"})] = 20 << 30
    """Bytes of the captures and files that all users keep."""
    server_records: Annotated[int, Meta(ge=1)] = 200_000
    """Geofences of all users, and as many of each other kind of `user_records`."""
    server_bytes: Annotated[int, Meta(ge=1, extra={"unit": "bytes"})] = 256 << 20
    """Bytes of each kind of `user_bytes` of all users."""
    server_geofence_points: Annotated[int, Meta(ge=1, extra={"unit": "points"})] = 2_000_000
    """Points of the geofences of all users."""
    server_tasks: Annotated[int, Meta(ge=1)] = 20_000
    """Notifications of all users, and as many scheduled commands and scheduled reports."""
    server_calendar_cost: Annotated[int, Meta(ge=1, extra={"unit": "steps"})] = 20_000_000
    """Cost of the calendars of all users."""
    server_notified: Annotated[int, Meta(ge=1, extra={"unit": "links"})] = 100_000
    """Links of users to the notifications of all users."""
    server_ticket_rules: Annotated[int, Meta(ge=1, extra={"unit": "rules"})] = 10_000
    """Ticket rules of all companies."""
    device_geofences: Annotated[int, Meta(ge=1)] = 250
    """Geofences linked to one device, directly or by its groups: a position may make an event of each."""
    device_geofence_points: Annotated[int, Meta(ge=1, extra={"unit": "points"})] = 20_000
    """Points of these geofences: a position may have to be compared with each edge between two of them."""
    device_computed_attributes: Annotated[int, Meta(ge=1)] = 100
    """Computed attributes linked to one device, directly or by its groups."""
    device_expression_characters: Annotated[int, Meta(ge=1, extra={"unit": "characters"})] = 20_000
    """Characters of the expressions of these computed attributes."""
    device_maintenances: Annotated[int, Meta(ge=1)] = 200
    """Maintenances linked to one device, directly or by its groups."""
    device_notifications: Annotated[int, Meta(ge=1)] = 500
    """Notifications linked to one device, directly or by its groups."""
    device_scheduled_steps: Annotated[int, Meta(ge=1, extra={"unit": "steps"})] = 200
    """Steps of the scheduled commands linked to one device, directly or by its groups."""
    device_linked_devices: Annotated[int, Meta(ge=1)] = 100
    """Devices that travel with one device."""
    sensor_limits: Annotated[int, Meta(ge=1, extra={"unit": "sensors"})] = 20
    """Sensors with limits in the attributes of one device, group or server: a position is compared with those
    of its device, its groups and the server."""

    def limit(self, scope: str, name: str) -> int:
        """Return a quota by its scope, which is "user", "server" or "device", and what it counts."""
        most: int = getattr(self, f"{scope}_{name}")
        return most


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """The log, on standard error."""

    format: Annotated[str, Meta(extra={"choices": ("text", "json")})] = "text"
    """One line of text or one JSON object a record."""
    level: Annotated[str, Meta(extra={"choices": ("debug", "info", "warning", "error")})] = "info"
    """The least severity written."""


if TYPE_CHECKING:

    class NotificatorSections:
        """The sections of the notificators that have one."""

else:
    NotificatorSections = make_dataclass(
        "NotificatorSections",
        [
            (each.name, each.settings, field(default_factory=each.settings))
            for each in NOTIFICATORS
            if each.settings is not None
        ],
        frozen=True,
        kw_only=True,
    )


@dataclass(frozen=True, kw_only=True)
class Settings(NotificatorSections, FleetSettings):
    """All settings; the fields that are not sections are the top-level keys."""

    bind: Annotated[str, Meta(extra={"form": "address"})] = "127.0.0.1:8082"
    """HTTP address."""
    nodes: Annotated[int, Meta(ge=0, le=64, extra={"unit": "processes"})] = 1
    """Server processes that share the ports of this machine, to use more than one of its cores. 0: one a
    core, less one with the embedded database."""
    database: Annotated[str, Meta(extra={"form": "database", "secret": True})] = DatabaseSettings.url
    """`embedded`, or a postgresql:// URL of a server of your own."""
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    node: NodeSettings = field(default_factory=NodeSettings)
    link: LinkSettings = field(default_factory=LinkSettings)
    admin: AdminSettings = field(default_factory=AdminSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    login: LoginSettings = field(default_factory=LoginSettings)
    users: UserSettings = field(default_factory=UserSettings)
    share: ShareSettings = field(default_factory=ShareSettings)
    openid: OpenIdSettings = field(default_factory=OpenIdSettings)
    geocoder: GeocoderSettings = field(default_factory=GeocoderSettings)
    map: MapSettings = field(default_factory=MapSettings)
    quotas: QuotaSettings = field(default_factory=QuotaSettings)
    log: LogSettings = field(default_factory=LogSettings)
    postgres: PostgresSettings = field(default_factory=PostgresSettings)
    encryption: EncryptionSettings = field(default_factory=EncryptionSettings)
    sources: Mapping[Place, Source] = field(default_factory=dict, compare=False, repr=False)
    """No setting: which of them the file or the environment has set."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of `bind`."""
        host, _, port = self.bind.rpartition(":")
        return host.strip("[]"), int(port)

    @property
    def override(self) -> Path:
        """The folder of files that replace those of the console, and of further ones."""
        return self.data / "override"

    @property
    def public_url(self) -> str:
        """Where users find the server, without a slash at the end.

        Never what a request says in its Host header: its sender could have mails point anywhere.
        """
        if self.public.url:
            return self.public.url.rstrip("/")
        host, port = self.address
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104 - compared, not bound
        scheme = "https" if self.http.tls_certificate else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
