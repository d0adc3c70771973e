"""Audit rows of failed logins: few for each client and in all, whatever strangers try
(docs/server.md#audit).
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from motorpool.actors.work.connection_limits import client_network
from motorpool.actors.work.rate_limits import RateLimit
from motorpool.api.auth.login_throttle import LoginLocked
from motorpool.storage.accounts import audit
from motorpool.storage.database.queries import Queries
from motorpool.storage.records import AuditAction, User

WINDOW_SECONDS = 3600.0
ROWS_PER_NETWORK = 60
"""Rows of one client within the window; further failures are only counted."""
ROWS = 1000
"""Rows of all clients within the window."""
MAX_NAME_LENGTH = 128

_log = logging.getLogger(__name__)


class LoginAudit:
    """Writes `denied` and `locked` rows; failures past the limits are counted in the next row written."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._networks = RateLimit(ROWS_PER_NETWORK, WINDOW_SECONDS, monotonic)
        self._all = RateLimit(ROWS, WINDOW_SECONDS, monotonic)
        self._unrecorded = 0

    async def denied(
        self,
        queries: Queries,
        now: datetime,
        address: str,
        *,
        method: str,
        name: str = "",
        user: User | None = None,
        locked: LoginLocked | None = None,
    ) -> None:
        """Write that a login failed, or with `locked` that a lock-out began.

        `method` is "form", "basic", "code", "openid" or "password change"; `name` is what was typed as the
        account's name, `user` who that is. A name that is neither an account's nor an e-mail address is not
        written: people type passwords into the wrong field.
        """
        if locked is not None and not locked.begins:
            return
        if self._networks.hit(client_network(address)) or self._all.hit(""):
            if not self._unrecorded:
                _log.warning("many logins fail, not all are audited; the last one came from %s", address)
            self._unrecorded += 1
            return
        attributes: dict[str, Any] = {"method": method}
        if user is not None:
            attributes["account"] = user.email
        elif "@" in name and len(name) <= MAX_NAME_LENGTH and name.isprintable():
            attributes["account"] = name.strip()
        if locked is not None:
            attributes |= {"limit": locked.limit, "seconds": int(locked.headers["Retry-After"])}
        if self._unrecorded:
            attributes["unrecorded"], self._unrecorded = self._unrecorded, 0
        await audit.record(
            queries,
            AuditAction(
                action_time=now,
                address=address,
                action_type="denied" if locked is None else "locked",
                object_type=None if user is None else "user",
                object_id=0 if user is None else user.id,
                attributes=attributes,
            ),
        )
