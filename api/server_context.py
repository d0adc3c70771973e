"""What every request may need: actors, tables, settings, and what is kept in memory between requests."""

import math
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts, SharedRate
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.changes import (
    CHANGES,
    COMMITTED_CHANGES,
    CalendarChanged,
    Change,
    DeviceChanged,
    DeviceMoved,
    EverythingChanged,
    GroupChanged,
    LinkChanged,
    ServerChanged,
    SessionEnded,
    TokenRevoked,
    UserChanged,
)
from motorpool.actors.reports.limits import RunningLimit
from motorpool.actors.reports.sources import Sources
from motorpool.actors.work.connection_limits import MemoryBudget
from motorpool.actors.work.networks import Networks
from motorpool.actors.work.rate_limits import RateLimit
from motorpool.actors.work.row_cache import RowCache
from motorpool.api.auth.accounts import Accounts
from motorpool.api.auth.login_audit import LoginAudit
from motorpool.api.auth.login_limits import LoginLimits
from motorpool.api.auth.login_throttle import LoginThrottle
from motorpool.api.auth.openid import OpenIdProvider
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.cluster.home_finder import HomeFinder
from motorpool.api.http.search_limit import SearchLimit
from motorpool.api.position_json import PositionJsonCache
from motorpool.api.program.settings import Settings
from motorpool.api.sockets.open_sockets import OpenSockets
from motorpool.runtime import Clock, LoopStalls, System
from motorpool.storage.accounts import server
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import Versioned
from motorpool.storage.devices import devices
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Device, ServerSettings

MAX_DEVICES = 50_000
"""Rows of devices that are cached: about 50 MB."""
DEVICE_MAX_AGE_SECONDS = 3600.0
BODY_MEMORY = 64 << 20
CLIENT_BODY_MEMORY = 16 << 20
"""Bytes of request bodies in memory, in all and for one client address; further requests get 503."""
PARSER_THREADS = 2
HOUR_SECONDS = 3600.0
WEBHOOK_TESTS = 6
"""Tests of a company's webhook within a minute."""
DOWNLOAD_SECONDS = 600.0
"""Within so long one user's requests for one capture are one download."""
REFRESH_SECONDS = 5.0
"""After an attempt to read the server's settings that fails, in seconds until the next."""


@dataclass(kw_only=True)
class ServerContext:
    """One running server, as requests see it."""

    system: System
    database: Database
    settings: Settings
    passwords: PasswordHasher
    login_throttle: LoginThrottle
    token_keys: SigningKeys
    """Signs tokens; stored in the database."""
    server: ServerSettings
    """The server's settings as last read."""
    files: MediaFiles
    """Files of devices, which devices and users add."""
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    """Mail, text messages, the geocoder and HTTP to other servers."""
    shared_attempts: SharedAttempts | None = None
    """Counts limited attempts for all servers of a cluster; None if there is one."""
    home_finder: HomeFinder | None = None
    """Where devices are that another server serves; None where no request is forwarded."""
    setup_token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    """Makes a client elsewhere the first user (api/auth/setup.py)."""
    closing: trio.Event = field(default_factory=trio.Event)
    """Set when the server begins to stop, for requests that never end by themselves."""
    changes: set[trio.CancelScope] = field(default_factory=set)
    """Shields of the changes that are being served; the stop of the server gives them a deadline."""
    restart_requested: trio.Event = field(default_factory=trio.Event)
    """Set to make the program stop and start again."""
    loop_stalls: LoopStalls = field(default_factory=LoopStalls)
    """Stalls of the event loop, measured by the program."""
    rights_changes: int = 0
    """How often anything was changed on which rights depend: requests that take long check theirs again."""
    clock: Clock = field(init=False)
    """The clock of the actor system; tests set it."""
    started: datetime = field(init=False)
    """When this server started, by the wall clock."""
    trusted_proxies: Networks = field(init=False)
    """The proxies whose headers about their clients are believed."""
    accounts: Accounts = field(init=False)
    """Users, sessions and tokens by which callers are identified."""
    login_limits: LoginLimits = field(init=False)
    """Limits on failed logins, at this server and those beside it."""
    login_audit: LoginAudit = field(init=False)
    """Writes the audit rows of failed logins."""
    resets: SharedRate = field(init=False)
    """Password resets requested from each address."""
    registrations: SharedRate = field(init=False)
    """Users registered from each address."""
    message_tests: SharedRate = field(init=False)
    """Test messages sent by each user."""
    webhook_tests: SharedRate = field(init=False)
    """Tests of the webhook of each company."""
    downloads: RateLimit = field(init=False)
    """Downloads of captures that are audited, by user and file."""
    openid: OpenIdProvider | None = field(init=False)
    """The OpenID Connect provider; None where none is configured."""
    devices: RowCache[int, Versioned[Device]] = field(init=False)
    """Rows of devices by id."""
    body_memory: MemoryBudget = field(default_factory=lambda: MemoryBudget(BODY_MEMORY, CLIENT_BODY_MEMORY))
    """What bodies of requests that are being served hold."""
    parsers: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(PARSER_THREADS))
    """Threads that parse large bodies."""
    open_sockets: OpenSockets = field(init=False)
    """WebSockets of each user and address."""
    reports: Sources = field(init=False)
    """What reports are made from."""
    report_mails: SharedRate = field(init=False)
    """Reports that were mailed to each user."""
    report_limit: RunningLimit = field(init=False)
    """Workbooks that are being made for each user."""
    business_calendars: BusinessCalendars = field(init=False)
    """Business hours of ticket priorities."""
    ticket_mails: TicketMails = field(init=False)
    """Mails to the assignees of tickets."""
    search_limit: SearchLimit = field(default_factory=SearchLimit)
    """Searches and statistics of tickets that are being made."""
    keys_in_progress: dict[tuple[int, str, str], trio.Event] = field(default_factory=dict)
    """Requests with Idempotency-Key that are being served, by user, key and path; set when they have been."""
    position_json: PositionJsonCache = field(default_factory=PositionJsonCache)
    """Positions as clients get them."""

    server_version: int = field(default=0, init=False)
    """The version of the row of settings; 0: not known yet."""
    _server_changes: int = field(default=1, init=False)
    """Changes of the settings so far, and 1 for the row that was given without its version."""
    _server_changes_read: int = field(default=0, init=False)
    _next_refresh: float = field(default=-math.inf, init=False)

    def __post_init__(self) -> None:
        """Make the caches, and have them follow the change feed."""

        async def rows(device_ids: tuple[int, ...]) -> dict[int, Versioned[Device]]:
            return await devices.TABLE.fetch_many_versioned(self.database, device_ids)

        self.clock = self.system.clock
        self.started = self.clock.now()
        monotonic = self.clock.monotonic
        self.trusted_proxies = Networks(self.settings.http.trusted_proxies)
        self.accounts = Accounts(self.database, monotonic)
        self.login_audit = LoginAudit(monotonic)
        chosen = self.settings.users
        shared = self.shared_attempts
        self.login_limits = LoginLimits(self.login_throttle, self.settings.login, self.clock, shared)
        self.resets = SharedRate(
            "reset address", chosen.resets_per_address, chosen.reset_minutes * 60, monotonic, shared
        )
        self.open_sockets = OpenSockets(self.settings.http)
        self.registrations = SharedRate(
            "registration", chosen.registrations_per_address, HOUR_SECONDS, monotonic, shared
        )
        self.message_tests = SharedRate(
            "message test", chosen.tests_per_hour, HOUR_SECONDS, monotonic, shared
        )
        self.webhook_tests = SharedRate("webhook test", WEBHOOK_TESTS, 60.0, monotonic, shared)
        self.downloads = RateLimit(1, DOWNLOAD_SECONDS, monotonic)
        self.reports = Sources(
            system=self.system,
            database=self.database,
            geocoder=self.outgoing.geocoder,
        )
        self.report_limit = RunningLimit(self.settings.reports.workbooks_per_user)
        self.report_mails = SharedRate(
            "report mail", self.settings.reports.mails_per_hour, HOUR_SECONDS, monotonic, shared
        )
        self.business_calendars = BusinessCalendars(timedelta(days=self.settings.tickets.horizon_days))
        self.ticket_mails = TicketMails(self.outgoing.mail, self.settings.public_url)
        self.openid = None
        if self.settings.openid.enabled:
            self.openid = OpenIdProvider(self.settings.openid, self.outgoing.http, monotonic)
        self.devices = RowCache(
            rows, max_rows=MAX_DEVICES, max_age_seconds=DEVICE_MAX_AGE_SECONDS, monotonic=monotonic
        )
        self.system.topic(COMMITTED_CHANGES).listen(self._drop_changed_rows)
        # Counted again when all followers have applied it: what was checked in between may be stale.
        self.system.topic(COMMITTED_CHANGES).listen(self._count_changes_of_rights)
        self.system.topic(CHANGES).listen(self._count_changes_of_rights)

    @property
    def server_stale(self) -> bool:
        """Whether the server's settings may have been changed since they were read."""
        return self._server_changes != self._server_changes_read

    async def refresh_server(self) -> None:
        """Read the server's settings if they have been changed; while that fails, those read last apply."""
        if not self.server_stale or self.clock.monotonic() < self._next_refresh:
            return
        self._next_refresh = self.clock.monotonic() + REFRESH_SECONDS
        with suppress(StorageUnavailable):
            await self.reload_server()
            self._next_refresh = -math.inf

    async def reload_server(self) -> None:
        """Read the server's settings. Of two reads that overtake each other the newer row stays."""
        changes = self._server_changes
        settings, version = await server.fetch_versioned(self.database)
        self._server_changes_read = max(self._server_changes_read, changes)
        if version >= self.server_version:
            self.server, self.server_version = settings, version

    def _drop_changed_rows(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case DeviceChanged():
                    self.devices.invalidate(change.id)
                case GroupChanged(operation="deleted") | CalendarChanged(operation="deleted"):
                    # Rows of devices lose a group or calendar that is deleted.
                    self.devices.clear()
                case UserChanged() | SessionEnded() | TokenRevoked():
                    self.accounts.apply(change)
                case ServerChanged():
                    self._server_changes += 1
                case DeviceMoved() if self.home_finder is not None:
                    self.home_finder.forget(change.device_id)
                case EverythingChanged():
                    if self.home_finder is not None:
                        self.home_finder.forget_all()
                    self._server_changes += 1
                    self.devices.clear()
                    self.accounts.clear()
                case _:
                    pass

    def _count_changes_of_rights(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case DeviceChanged() | GroupChanged():
                    self.rights_changes += change.affects_visibility
                case UserChanged() | LinkChanged() | SessionEnded() | TokenRevoked() | EverythingChanged():
                    self.rights_changes += 1
                case _:
                    pass
