"""Outgoing HTTP requests, each with a deadline, a limit of the response, and a check of the address."""

import ssl
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import trio

from motorpool.actors.http.address_guard import AddressGuard, OwnServer
from motorpool.actors.http.response import HttpResponse

if TYPE_CHECKING:
    from motorpool.actors.http.http_session import HttpSession


class OutgoingHttp:
    """An HTTP client that connects to permitted addresses only.

    Addresses in private networks, of this machine, link-local, multicast and the like are refused, unless
    `allow` names their network or the request is `trusted`: its URL comes from the operator's settings (an
    SMS modem, a geocoder or an OpenID provider in the local network). The connection goes to the address that
    was checked, and TLS is verified against the name. Redirects are returned, not followed.
    """

    def __init__(
        self,
        allow: tuple[str, ...] = (),
        *,
        own: OwnServer | None = None,
        max_concurrent: int = 20,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = AddressGuard(allow, own)
        # Separate, because users may name servers that never respond.
        self.slots = {trusted: trio.Semaphore(max_concurrent) for trusted in (False, True)}
        self._given_tls = tls

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """The trusted certificates, from SSL_CERT_FILE if set, else from certifi."""
        if self._given_tls is not None:
            return self._given_tls
        from motorpool.actors.http import http_session  # noqa: PLC0415 - as in `session`

        return http_session.default_tls()

    def session(
        self,
        *,
        trusted: bool = False,
        listed_only: bool = False,
        connect_seconds: float | None = None,
        idle_seconds: float | None = None,
        slots: trio.Semaphore | None = None,
    ) -> "HttpSession":
        """Return a context manager whose requests keep their connections open for further ones.

        `trusted` and `listed_only` as for `AddressGuard.resolve`; `connect_seconds`, if given, limits the
        connection to each address; a connection is not used again after `idle_seconds`, if given; each
        request occupies one of the `slots`, if given.
        """
        # Not before it is needed: httpx and httpcore are a tenth of what a start of the server imports, and
        # most servers send no request.
        from motorpool.actors.http.guarded_network import GuardedNetwork  # noqa: PLC0415
        from motorpool.actors.http.http_session import HttpSession  # noqa: PLC0415

        network = GuardedNetwork(self.guard, trusted=trusted, listed_only=listed_only)
        return HttpSession(network, self.tls, connect_seconds, idle_seconds, slots)

    async def request(
        self,
        method: str,
        url: str,
        *,
        trusted: bool = False,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        content: bytes | None = None,
        seconds: float = 10.0,
        max_bytes: int = 1024 * 1024,
    ) -> HttpResponse:
        """Send a request on a connection of its own, as in a `session`, and return the answer.

        `seconds` includes the wait for one of the `max_concurrent` slots.
        """
        async with self.session(trusted=trusted, slots=self.slots[trusted]) as session:
            return await session.request(
                method,
                url,
                params=params,
                headers=headers,
                form=form,
                content=content,
                seconds=seconds,
                max_bytes=max_bytes,
            )
