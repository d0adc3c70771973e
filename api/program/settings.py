"""Every setting of the server: its name, default, unit and one sentence (docs/decisions/0005).

A key of `[section]` in motorpool.toml is `MOTORPOOL_SECTION_KEY` in the environment; keys without a section
stand at the top of the file. Inner layers never see these classes: they are handed plain arguments.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, get_args

from motorpool.actors.outgoing.addresses import DEFAULT_FORMAT
from motorpool.actors.outgoing.geocoders import PROVIDERS
from motorpool.actors.outgoing.sms import SmsGateway
from motorpool.actors.outgoing.smtp import Security

__all__ = [
    "AdminSettings",
    "CaptureSettings",
    "DeviceSettings",
    "FileSettings",
    "GeocoderSettings",
    "HttpSettings",
    "LogSettings",
    "LoginSettings",
    "MailSettings",
    "OpenIdSettings",
    "OutboxSettings",
    "PortSettings",
    "PositionSettings",
    "PostgresSettings",
    "PublicSettings",
    "RegisterSettings",
    "Setting",
    "Settings",
    "ShareSettings",
    "SmsSettings",
    "UserSettings",
    "VideoSettings",
    "WebhookSettings",
]

T = TypeVar("T")
SECURITIES: tuple[str, ...] = get_args(Security)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What `motorpool settings` prints about one key, and what a value must satisfy."""

    sentence: str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    form: str = ""
    """A further check of the text: "address", "url", "service", "mailbox", "networks" or "database"."""
    secret: bool = False
    """The value is never printed, not even in an error."""


def setting(
    default: T,
    sentence: str,
    *,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
    form: str = "",
    secret: bool = False,
) -> T:
    """Declare one setting of a section."""
    described = Setting(
        sentence=sentence, unit=unit, least=least, most=most, choices=choices, form=form, secret=secret
    )
    return field(default=default, metadata={"setting": described})


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """Ports and patience towards devices."""

    host: str = setting("0.0.0.0", "Address of the device ports.")  # noqa: S104 - devices come from outside
    connections_per_address: int = setting(
        20000, "Connections that one address may hold on a device port.", unit="connections", least=1
    )
    idle_seconds: float = setting(
        1800.0, "A device connection without a message is closed after this.", unit="s", least=1
    )
    login_seconds: float = setting(
        30.0, "A new device connection must identify itself within this.", unit="s", least=0.1
    )
    status_seconds: float = setting(
        600.0, "A device without a message becomes `unknown` after this.", unit="s", least=1
    )


@dataclass(frozen=True, kw_only=True)
class PublicSettings:
    """How the outside reaches this server."""

    host: str | None = setting(
        None, "Host that devices are told to send media to; unset: the address they reached us at."
    )
    url: str | None = setting(
        None,
        "Address of the console as users type it: `https://fleet.example.org`. Links in mails and the OpenID"
        " provider lead there.",
        form="url",
    )


@dataclass(frozen=True, kw_only=True)
class PortSettings:
    """Where the device ports stand."""

    offset: int = setting(
        0, "Added to every device port, so that two servers can share a machine.", least=0, most=50000
    )


@dataclass(frozen=True, kw_only=True)
class AdminSettings:
    """The first administrator."""

    email: str | None = setting(None, "With `password`: creates this administrator if there is no user.")
    password: str | None = setting(None, "Password of that administrator.", secret=True)


@dataclass(frozen=True, kw_only=True)
class RegisterSettings:
    """Devices that nobody entered."""

    unknown: bool = setting(
        False, "Registers a device that is not known when it first reports, as the oldest administrator's."
    )


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """What outgoing calls may reach."""

    allow: tuple[str, ...] = setting(
        (), "Private networks that webhooks and other outgoing calls may reach.", form="networks"
    )


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """The HTTP server; Hypercorn's own defaults are not for a server that holds many clients."""

    keep_alive_seconds: float = setting(
        75.0,
        "An idle HTTP connection, or one that has not finished its headers, is closed after this.",
        unit="s",
        least=1,
    )
    idle_seconds: float = setting(
        300.0, "A connection whose client sends nothing at all is closed after this.", unit="s", least=30
    )
    body_seconds: float = setting(60.0, "A request body must have arrived within this.", unit="s", least=1)
    stall_seconds: float = setting(
        30.0, "A client that takes no byte of an answer for so long is dropped.", unit="s", least=1
    )
    requests_per_connection: int = setting(
        100000, "After so many requests a connection is closed.", unit="requests", least=1
    )
    connections: int = setting(
        10000, "Connections served at once; more wait to be accepted.", unit="connections", least=8
    )
    backlog: int = setting(1024, "Connections the system may queue for us.", unit="connections", least=1)
    body_bytes: int = setting(
        16 * 1024 * 1024, "Largest request body; beyond it 413.", unit="bytes", least=1024
    )
    json_depth: int = setting(32, "Deepest nesting of a JSON body.", unit="levels", least=4, most=200)
    trusted_proxies: tuple[str, ...] = setting(
        (), "Networks of proxies whose X-Forwarded headers are believed.", form="networks"
    )
    cors_origin: str | None = setting(
        None, "Origins that browsers may call from, comma-separated; `*` means any."
    )
    cookie_secure: bool = setting(False, "Marks the session cookie Secure even on a plain connection.")
    session_days: float = setting(
        30.0, "A session that is not used ends after this.", unit="days", least=0.001
    )
    metrics_allow: tuple[str, ...] = setting(
        (), "Networks besides this machine that may read /metrics.", form="networks"
    )
    tls_certificate: Path | None = setting(  # noqa: RUF009 - makes a field
        None, "Certificate chain in PEM; with `tls_key` HTTPS is served."
    )
    tls_key: Path | None = setting(None, "Private key of the certificate in PEM.")  # noqa: RUF009 - as above
    socket_keepalive_seconds: float = setting(
        55.0, "An empty object goes out on /api/socket so often.", unit="s", least=1
    )
    socket_queue: int = setting(
        1000, "Batches kept for a slow /api/socket client before it is told that it lags.", least=10
    )


@dataclass(frozen=True, kw_only=True)
class LoginSettings:
    """Brute force: only failures count."""

    failures_per_account: int = setting(
        10, "Failed logins of one account within the window before 429.", unit="failures", least=1
    )
    failures_per_address: int = setting(
        50, "Failed logins from one address within the window before 429.", unit="failures", least=1
    )
    window_seconds: float = setting(300.0, "The window in which failures count.", unit="s", least=1)
    hash_memory_kib: int = setting(
        65536, "Memory of one password hash (Argon2id).", unit="KiB", least=8192, most=4194304
    )
    hash_rounds: int = setting(3, "Passes of one password hash (Argon2id).", least=1, most=100)
    hashes_at_once: int = setting(2, "Password hashes computed at once; further logins wait.", least=1)


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """What a self-registered user gets."""

    device_limit: int = setting(-1, "Devices a self-registered user may add; -1 is no limit.", least=-1)
    expiration_days: float = setting(
        0.0, "A self-registered user expires after this; 0 is never.", unit="days", least=0
    )
    reset_minutes: float = setting(
        60.0, "A mailed link sets a new password for so long.", unit="min", least=1, most=10080
    )
    resets_per_account: int = setting(
        3, "Such mails that one account gets within that time.", unit="mails", least=1
    )
    resets_per_address: int = setting(
        20, "Such mails that one address may ask for within that time before 429.", unit="mails", least=1
    )


@dataclass(frozen=True, kw_only=True)
class ShareSettings:
    """What the guests of a shared device or group may do besides looking."""

    commands: bool = setting(False, "Guests may send commands where who shared may.")
    reports: bool = setting(False, "Guests see history and reports where who shared does.")


@dataclass(frozen=True, kw_only=True)
class OpenIdSettings:
    """Logging in through an OpenID Connect provider; its redirect address is /api/session/openid/callback."""

    issuer: str | None = setting(
        None, "The provider's issuer address; the rest is read from its discovery document.", form="url"
    )
    client_id: str | None = setting(None, "What the provider knows this server by.")
    client_secret: str | None = setting(None, "The secret that belongs to it.", secret=True)
    force: bool = setting(False, "Switches passwords off: everybody logs in through the provider.")
    allow_registration: bool = setting(
        False, "Who is unknown becomes a user at his first login, although registration is closed."
    )
    scopes: tuple[str, ...] = setting(("openid", "profile", "email"), "What is asked of the provider.")
    groups_claim: str = setting("groups", "The claim that holds a user's groups.")
    admin_group: str | None = setting(None, "Who is in this group is an administrator.")
    allow_group: str | None = setting(None, "Only who is in this group, or in `admin_group`, may log in.")
    require_verified: bool = setting(
        False, "Refuses who comes without `email_verified`; for providers where people type any address."
    )

    @property
    def enabled(self) -> bool:
        """A provider is configured."""
        return self.issuer is not None and self.client_id is not None

    @property
    def forced(self) -> bool:
        """And it is the only way."""
        return self.enabled and self.force


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """The mail server that takes what the server sends."""

    host: str | None = setting(None, "Host of the mail server; with `address` mail is sent.")
    port: int = setting(
        0, "Its port; 0: 465 with `tls`, 587 with `starttls`, 25 with `none`.", least=0, most=65535
    )
    security: str = setting(
        "starttls",
        "How the connection is secured; certificates are checked, also against SSL_CERT_FILE.",
        choices=SECURITIES,
    )
    username: str | None = setting(None, "Whom the server logs in as; unset: without login.")
    password: str | None = setting(None, "The password that belongs to it.", secret=True)
    address: str | None = setting(None, "Sender of the mails: `fleet@example.org`.", form="mailbox")
    name: str = setting("Motorpool", "Name shown beside the sender's address.")
    seconds: float = setting(30.0, "Handing in one mail takes at most so long.", unit="s", least=1, most=300)


@dataclass(frozen=True, kw_only=True)
class SmsSettings:
    """The gateway that takes text messages, one HTTP request for each."""

    url: str | None = setting(
        None,
        "Address of the request; with it text messages are sent. It may hold {phone}, {message}, {id}.",
        form="service",
        secret=True,
    )
    method: str = setting("POST", "Method of the request.", choices=("POST", "PUT", "GET"))
    headers: tuple[str, ...] = setting((), "Further header lines: `X-Api-Key: 123`.", secret=True)
    authorization: str | None = setting(None, "Value of the Authorization header.", secret=True)
    template: str = setting(
        SmsGateway.template,
        "Body of the request, but for GET: JSON, or a form such as `to={phone}&text={message}`.",
    )
    seconds: float = setting(10.0, "The gateway answers within this.", unit="s", least=1, most=60)


@dataclass(frozen=True, kw_only=True)
class GeocoderSettings:
    """Who knows the addresses of places."""

    type: str | None = setting(
        None, "Kind of the geocoder; with it addresses are looked up.", choices=tuple(sorted(PROVIDERS))
    )
    url: str | None = setting(
        None, "Address of a geocoder of your own; unset: the public one of that kind.", form="service"
    )
    key: str | None = setting(None, "The key it gave you.", secret=True)
    language: str | None = setting(None, "Language of addresses: `de`; unset: the geocoder's choice.")
    format: str = setting(
        DEFAULT_FORMAT,
        "Form of an address: %h house, %r road, %t settlement, %u suburb, %d district, %s state, %c country,"
        " %p postcode, %f as the geocoder writes it.",
    )
    cache_size: int = setting(
        10_000, "Addresses that are remembered.", unit="places", least=1, most=1_000_000
    )
    per_second: float = setting(
        1.0, "Questions a second at most, as the public Nominatim demands; 0 is no limit.", least=0
    )
    seconds: float = setting(
        10.0, "An address is found within this, waiting in line included.", unit="s", least=1, most=60
    )


@dataclass(frozen=True, kw_only=True)
class OutboxSettings:
    """Mails and text messages that wait to go out."""

    give_up_days: float = setting(
        3.0, "What could not be sent for so long is given up.", unit="days", least=0.01, most=30
    )


@dataclass(frozen=True, kw_only=True)
class VideoSettings:
    """Live video and playback of recordings."""

    segment_seconds: float = setting(
        2.0, "Target length of an HLS segment; cut at the next key frame.", unit="s", least=0.5, most=20
    )
    window_segments: int = setting(6, "Segments in a live playlist.", unit="segments", least=3, most=100)
    part_seconds: float = setting(
        0.0,
        "Length of the parts of segments in Low-Latency HLS, 0.2 to 1; 0: no parts, viewers are some seconds"
        " behind.",
        unit="s",
        least=0,
        most=1,
    )
    autostart: bool = setting(True, "The first reader of an online device's playlist starts the stream.")
    start_seconds: float = setting(
        10.0, "The first reader waits at most this long for the first segment.", unit="s", least=0, most=60
    )
    linger_seconds: float = setting(
        60.0, "What a reader started is stopped so long after the last read.", unit="s", least=1
    )
    unrequested: bool = setting(False, "Accepts media that a device sends without being asked.")
    alarm_attachments: bool = setting(
        True, "Asks JT/T 808 terminals for the pictures, sounds and films that they keep of an alarm."
    )
    attachment_bytes: int = setting(
        64 << 20, "A file of an alarm that is larger than this is refused.", unit="bytes", least=1 << 10
    )
    playback_quota_bytes: int = setting(
        4 << 30,
        "All playbacks together keep so much on disk; the oldest go first.",
        unit="bytes",
        least=1 << 20,
    )
    playback_linger_seconds: float = setting(
        600.0, "A playback is kept so long after the last read.", unit="s", least=1, most=3600
    )
    playback_silence_seconds: float = setting(
        12.0, "A device that sends nothing for so long has ended its playback.", unit="s", least=2, most=300
    )
    playback_return_seconds: float = setting(
        8.0, "A playback whose connection dropped may go on within this time.", unit="s", least=0, most=300
    )


@dataclass(frozen=True, kw_only=True)
class FileSettings:
    """Files of devices: captures, playbacks, pictures."""

    reserve_bytes: int = setting(
        512 << 20, "So much of the disk is left to the database.", unit="bytes", least=0
    )


@dataclass(frozen=True, kw_only=True)
class CaptureSettings:
    """Video that is kept as files."""

    start_seconds: float = setting(
        120.0, "A capture that no picture or sound reaches within this has failed.", unit="s", least=1
    )
    idle_seconds: float = setting(
        300.0, "A capture ends when its device sent nothing for so long.", unit="s", least=1
    )
    per_device: int = setting(8, "Captures of one device that may be open at once.", unit="captures", least=1)
    quota_bytes: int = setting(
        0, "All files of captures together take at most this; the oldest go first. 0 is no quota.",
        unit="bytes", least=0,
    )  # fmt: skip
    retention_days: int = setting(
        0, "Files of captures are removed after this; 0 keeps all.", unit="days", least=0
    )


@dataclass(frozen=True, kw_only=True)
class PositionSettings:
    """The history."""

    retention_days: int = setting(0, "Older positions are deleted; 0 keeps all.", unit="days", least=0)
    most: int = setting(
        0, "GET /positions refuses spans with more positions; 0 is no cap.", unit="positions", least=0
    )


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """Commands that go out on a calendar."""

    retention_days: int = setting(
        90, "Runs of scheduled commands are kept so long; 0 keeps all.", unit="days", least=0
    )
    reconnect_grace_seconds: float = setting(
        60.0,
        "After a start devices have so long to come back before a step counts them as offline.",
        unit="s",
        least=0.0,
    )


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """The log, on standard error."""

    format: str = setting("text", "One line of text or one JSON object a record.", choices=("text", "json"))
    level: str = setting("info", "The least severity written.", choices=("debug", "info", "warning", "error"))


@dataclass(frozen=True, kw_only=True)
class PostgresSettings:
    """Patience towards the database."""

    pool_size: int = setting(8, "Connections to the database.", unit="connections", least=2, most=200)
    start_seconds: float = setting(
        120.0, "At the start the database has so long to be there.", unit="s", least=1
    )
    statement_seconds: float = setting(30.0, "A statement ends after this.", unit="s", least=1)
    acquire_seconds: float = setting(
        5.0,
        "A request waits at most this long for a database connection, then answers 503.",
        unit="s",
        least=0.1,
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings; the fields that are not sections are the top-level keys."""

    data: Path = setting(  # noqa: RUF009 - makes a field
        Path("data"), "Folder of the embedded database, captures, uploads and keys."
    )
    bind: str = setting("127.0.0.1:8082", "HTTP address.", form="address")
    database: str = setting(
        "embedded",
        "`embedded`, or a postgresql:// URL of a server of your own.",
        form="database",
        secret=True,
    )
    protocols: tuple[str, ...] | None = setting(None, "Protocols to listen for, comma-separated; unset: all.")
    device: DeviceSettings = field(default_factory=DeviceSettings)
    public: PublicSettings = field(default_factory=PublicSettings)
    port: PortSettings = field(default_factory=PortSettings)
    admin: AdminSettings = field(default_factory=AdminSettings)
    register: RegisterSettings = field(default_factory=RegisterSettings)
    webhook: WebhookSettings = field(default_factory=WebhookSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    login: LoginSettings = field(default_factory=LoginSettings)
    users: UserSettings = field(default_factory=UserSettings)
    share: ShareSettings = field(default_factory=ShareSettings)
    openid: OpenIdSettings = field(default_factory=OpenIdSettings)
    mail: MailSettings = field(default_factory=MailSettings)
    sms: SmsSettings = field(default_factory=SmsSettings)
    geocoder: GeocoderSettings = field(default_factory=GeocoderSettings)
    outbox: OutboxSettings = field(default_factory=OutboxSettings)
    video: VideoSettings = field(default_factory=VideoSettings)
    files: FileSettings = field(default_factory=FileSettings)
    captures: CaptureSettings = field(default_factory=CaptureSettings)
    positions: PositionSettings = field(default_factory=PositionSettings)
    schedules: ScheduleSettings = field(default_factory=ScheduleSettings)
    log: LogSettings = field(default_factory=LogSettings)
    postgres: PostgresSettings = field(default_factory=PostgresSettings)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of `bind`."""
        host, _, port = self.bind.rpartition(":")
        return host.strip("[]"), int(port)

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
