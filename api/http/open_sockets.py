"""How many WebSockets are open, of each user and from each address."""

from collections.abc import Iterator
from contextlib import contextmanager

from motorpool.actors.work.connection_limits import ConnectionLimits
from motorpool.api.http.errors import TooManyRequests
from motorpool.api.settings import HttpSettings

RETRY_SECONDS = 60


class OpenSockets:
    """Counts open sockets; more than the settings allow are refused."""

    def __init__(self, settings: HttpSettings) -> None:
        total = settings.connections
        self._of_users = ConnectionLimits(total=total, per_client=settings.sockets_per_user)
        self._of_addresses = ConnectionLimits(total=total, per_client=settings.sockets_per_address)

    @contextmanager
    def hold(self, user_id: int, address: str) -> Iterator[None]:
        """Count a socket while it is open. Raises TooManyRequests."""
        user = f"user {user_id}"
        if self._of_users.admit(user):
            raise TooManyRequests("the user has too many open sockets", RETRY_SECONDS)
        try:
            if self._of_addresses.admit(address):
                raise TooManyRequests("too many sockets are open from this address", RETRY_SECONDS)
            try:
                yield
            finally:
                self._of_addresses.release(address)
        finally:
            self._of_users.release(user)
