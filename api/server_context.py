"""What every request may need: the actors, the tables, the settings, and what login remembers."""

from dataclasses import dataclass, field
from datetime import datetime

import trio

from motorpool.actors.outgoing import OutgoingServices
from motorpool.api.auth.accounts import Accounts
from motorpool.api.auth.one_time_codes import OneTimeCodes
from motorpool.api.auth.openid import OpenIdProvider
from motorpool.api.auth.passwords import LoginThrottle, PasswordHasher
from motorpool.api.auth.rate_limits import RateLimit
from motorpool.api.calendar_texts import Texts
from motorpool.api.program.settings import Settings
from motorpool.api.row_cache import RowCache
from motorpool.runtime import Clock, System
from motorpool.storage import devices
from motorpool.storage.database import Database
from motorpool.storage.records import Device, ServerSettings

__all__ = ["ServerContext"]

DEVICES = 50_000
"""Rows of devices that are remembered: some 50 MB."""
DEVICE_SECONDS = 3600.0


@dataclass(kw_only=True)
class ServerContext:
    """One running server, seen from a request."""

    system: System
    database: Database
    settings: Settings
    passwords: PasswordHasher
    login_throttle: LoginThrottle
    token_key: bytes
    """Signs tokens; lives in the database."""
    server: ServerSettings
    """The row as last read or written; `PUT /server` replaces it."""
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    """The ways out: mail, text messages, the geocoder, HTTP."""
    closing: trio.Event = field(default_factory=trio.Event)
    """Set when the server begins to stop: what never ends by itself ends now."""
    restart_requested: trio.Event = field(default_factory=trio.Event)
    """Set by who wants the program to stop and start again."""
    started: datetime = field(init=False)
    accounts: Accounts = field(init=False)
    codes: OneTimeCodes = field(default_factory=OneTimeCodes)
    """One-time codes that were used."""
    resets: RateLimit = field(init=False)
    """Password resets that each address asked for."""
    openid: OpenIdProvider | None = field(init=False)
    """The OpenID Connect provider, where one is configured."""
    devices: RowCache[int, Device] = field(init=False)
    """Rows of devices by id."""

    texts: Texts = field(default_factory=Texts)
    """Positions as they are shown."""

    def __post_init__(self) -> None:
        """Remember what requests ask for again and again; api/access.py says when it has changed."""

        async def rows(device_ids: tuple[int, ...]) -> dict[int, Device]:
            return {row.id: row for row in await devices.TABLE.fetch_many(self.database, device_ids)}

        self.started = self.clock.now()
        monotonic = self.clock.monotonic
        self.accounts = Accounts(self.database, monotonic)
        chosen = self.settings.users
        self.resets = RateLimit(chosen.resets_per_address, chosen.reset_minutes * 60, monotonic)
        self.openid = None
        if self.settings.openid.enabled:
            self.openid = OpenIdProvider(self.settings.openid, self.outgoing.http, monotonic)
        self.devices = RowCache(rows, most=DEVICES, seconds=DEVICE_SECONDS, monotonic=monotonic)

    @property
    def clock(self) -> Clock:
        """The injected clock."""
        return self.system.clock
