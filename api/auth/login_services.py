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
from motorpool.api.settings import Settings
from motorpool.runtime import Clock
from motorpool.storage.database.database import Database


class LoginServices:
    """Accounts, passwords and keys, and the limits on failed logins."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        http: OutgoingHttp,
        *,
        passwords: PasswordHasher,
        token_keys: SigningKeys,
        setup_token: str | None = None,
        shared: SharedAttempts | None = None,
    ) -> None:
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
        self.openid = (
            OpenIdProvider(settings.openid, http, clock.monotonic) if settings.openid.enabled else None
        )
        """The OpenID Connect provider; None where none is configured."""
