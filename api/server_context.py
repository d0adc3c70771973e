"""What every request may need: actors, tables, settings, and what is kept in memory between requests."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime

import trio

from motorpool.actors.messages.changes import (
    COMMITTED_CHANGES,
    CalendarChanged,
    Change,
    DeviceChanged,
    EverythingChanged,
    GroupChanged,
    SessionEnded,
    TokenRevoked,
    UserChanged,
)
from motorpool.actors.outgoing import OutgoingServices
from motorpool.actors.rate_limits import RateLimit
from motorpool.api.auth.accounts import Accounts
from motorpool.api.auth.login_audit import LoginAudit
from motorpool.api.auth.login_throttle import LoginThrottle
from motorpool.api.auth.one_time_codes import OneTimeCodes
from motorpool.api.auth.openid import OpenIdProvider
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.position_json import PositionJsonCache
from motorpool.api.program.settings import Settings
from motorpool.api.row_cache import RowCache
from motorpool.runtime import Clock, System
from motorpool.storage import devices
from motorpool.storage.database import Database
from motorpool.storage.records import Device, ServerSettings

__all__ = ["ServerContext"]

MAX_DEVICES = 50_000
"""Rows of devices that are cached: about 50 MB."""
DEVICE_MAX_AGE_SECONDS = 3600.0
REGISTRATION_SECONDS = 3600.0
"""The window of `users.registrations_per_address`."""


@dataclass(kw_only=True)
class ServerContext:
    """One running server, as requests see it."""

    system: System
    database: Database
    settings: Settings
    passwords: PasswordHasher
    login_throttle: LoginThrottle
    token_key: bytes
    """Signs tokens; stored in the database."""
    server: ServerSettings
    """The row as last read or written; `PUT /server` replaces it."""
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    """Mail, text messages, the geocoder and HTTP to other servers."""
    setup_token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    """Makes a client elsewhere the first user (api/auth/setup.py)."""
    closing: trio.Event = field(default_factory=trio.Event)
    """Set when the server begins to stop, for requests that never end by themselves."""
    restart_requested: trio.Event = field(default_factory=trio.Event)
    """Set to make the program stop and start again."""
    started: datetime = field(init=False)
    """When this server started, by the wall clock."""
    accounts: Accounts = field(init=False)
    """Users, sessions and tokens by which callers are identified."""
    login_audit: LoginAudit = field(init=False)
    """Writes the audit rows of failed logins."""
    codes: OneTimeCodes = field(default_factory=OneTimeCodes)
    """One-time codes that were used."""
    resets: RateLimit = field(init=False)
    """Password resets requested from each address."""
    registrations: RateLimit = field(init=False)
    """Users registered from each address."""
    openid: OpenIdProvider | None = field(init=False)
    """The OpenID Connect provider; None where none is configured."""
    devices: RowCache[int, Device] = field(init=False)
    """Rows of devices by id."""
    position_json: PositionJsonCache = field(default_factory=PositionJsonCache)
    """Positions as clients get them."""

    def __post_init__(self) -> None:
        """Make the caches, and have them follow the change feed."""

        async def rows(device_ids: tuple[int, ...]) -> dict[int, Device]:
            return {row.id: row for row in await devices.TABLE.fetch_many(self.database, device_ids)}

        self.started = self.clock.now()
        monotonic = self.clock.monotonic
        self.accounts = Accounts(self.database, monotonic)
        self.login_audit = LoginAudit(monotonic)
        chosen = self.settings.users
        self.resets = RateLimit(chosen.resets_per_address, chosen.reset_minutes * 60, monotonic)
        self.registrations = RateLimit(chosen.registrations_per_address, REGISTRATION_SECONDS, monotonic)
        self.openid = None
        if self.settings.openid.enabled:
            self.openid = OpenIdProvider(self.settings.openid, self.outgoing.http, monotonic)
        self.devices = RowCache(
            rows, max_rows=MAX_DEVICES, max_age_seconds=DEVICE_MAX_AGE_SECONDS, monotonic=monotonic
        )
        self.system.topic(COMMITTED_CHANGES).listen(self._drop_changed_rows)

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
                case EverythingChanged():
                    self.devices.clear()
                    self.accounts.clear()
                case _:
                    pass

    @property
    def clock(self) -> Clock:
        """The clock of the actor system; tests set it."""
        return self.system.clock
