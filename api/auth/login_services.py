"""What callers are identified by."""

import secrets

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.http.http import OutgoingHttp
from motorpool.api.auth.accounts import Accounts
from motorpool.api.auth.login_audit import LoginAudit
from motorpool.api.auth.login_limits import LoginLimits
from motorpool.api.auth.login_throttle import LoginThrottle
from motorpool.api.auth.openid import OpenIdProvider
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.login_settings import OpenIdSettings
from motorpool.runtime import Clock
from motorpool.storage.database.database import Database


class LoginServices:
    """Accounts, passwords and keys, and the limits on failed logins."""

    def __init__(
        self,
        database: Database,
        live: LiveSettings,
        clock: Clock,
        http: OutgoingHttp,
        *,
        passwords: PasswordHasher,
        token_keys: SigningKeys,
        setup_token: str | None = None,
        shared: SharedAttempts | None = None,
    ) -> None:
        self._live = live
        self._http = http
        self._monotonic = clock.monotonic
        self._provider: tuple[OpenIdSettings, OpenIdProvider | None] | None = None
        settings = live.settings
        self.passwords = passwords
        self.token_keys = token_keys
        """Signs tokens; stored in the database."""
        self.setup_token = setup_token or secrets.token_urlsafe(16)
        """Makes a client the first user (api/logins/setup.py)."""
        self.accounts = Accounts(database, clock.monotonic)
        """Users, sessions and tokens."""
        self.throttle = LoginThrottle(settings.login, clock.monotonic)
        """Failed logins at this server."""
        self.limits = LoginLimits(self.throttle, settings.login, clock, shared)
        """Limits on failed logins, at this server and those beside it."""
        self.audit = LoginAudit(clock.monotonic)
        """Writes the audit rows of failed logins."""

    @property
    def openid(self) -> OpenIdProvider | None:
        """The OpenID Connect provider; None where none is configured."""
        settings = self._live.settings.openid
        if self._provider is None or self._provider[0] != settings:
            self._provider = settings, self.new_provider() if settings.enabled else None
        return self._provider[1]

    def new_provider(self) -> OpenIdProvider:
        """Return a client of the configured provider that has not read anything yet."""
        return OpenIdProvider(
            self._live.settings.openid,
            self._http,
            self._monotonic,
            trusted="openid" not in self._live.unvouched,
        )
