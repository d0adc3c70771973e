"""Devices and addresses that a user has logged in from: failed logins of strangers do not lock them out there
(docs/authentication.md#guessing).

A device is known by a signed cookie that lists the users who have logged in with it; an address by a row.
"""

from contextlib import suppress
from datetime import timedelta

from quart import Request, Response, Websocket

from motorpool.actors.work.connection_limits import client_network
from motorpool.api.auth.tokens import DEVICE, InvalidToken, Token, issue, read
from motorpool.api.http.addresses import client_address
from motorpool.api.logins.cookies import Cookie
from motorpool.api.server_context import ServerContext
from motorpool.storage.accounts import known_addresses
from motorpool.storage.accounts.users import Account
from motorpool.storage.errors import StorageUnavailable

COOKIE = Cookie(name="motorpool_device", path="/api/session")
DEVICE_LIFETIME = timedelta(days=180)
TOUCH_INTERVAL = timedelta(days=1)
"""A login from an address is stored at most once in this time, since Basic logs in with every request."""
MAX_USERS = 8
"""Users in a device's cookie; the one whose last login is the oldest is dropped first."""


def network_of(context: ServerContext, request: Request | Websocket) -> str:
    """Return the network that a request comes from, as `client_network`."""
    return client_network(client_address(request, context.trusted_proxies))


async def find_known_place(
    context: ServerContext, request: Request | Websocket, account: Account
) -> str | None:
    """Return what identifies the request's device or address if it is known to the account, else None."""
    now = context.clock.now()
    device = _device(context, request)
    if device is not None:
        login = float(device.extra.get(str(account.user.id), "-inf"))
        ended = account.tokens_since.timestamp() if account.tokens_since is not None else 0.0
        # A device that knew an earlier password is a stranger.
        if login >= max(ended, (now - DEVICE_LIFETIME).timestamp()):
            return f"device {device.id}"
    network = network_of(context, request)
    last = (await context.logins.accounts.known_networks(account.user.id)).get(network)
    return f"address {network}" if last is not None and last > now - known_addresses.LIFETIME else None


async def remember_address(context: ServerContext, request: Request | Websocket, user_id: int) -> None:
    """Make the address known to a user who has logged in."""
    now, network = context.clock.now(), network_of(context, request)
    last = (await context.logins.accounts.known_networks(user_id)).get(network)
    if last is None or last <= now - TOUCH_INTERVAL:
        # Who reads a database that takes no changes becomes known at the next login.
        with suppress(StorageUnavailable):
            await known_addresses.record_login(context.database, user_id, network, now)
            context.logins.accounts.drop_known_networks(user_id)


def remember_device(context: ServerContext, request: Request, response: Response, user_id: int) -> None:
    """Make the device known to a user who has logged in, by a cookie."""
    now = context.clock.now()
    device = _device(context, request)
    others = device.extra if device is not None else {}
    newest = sorted(others.items(), key=lambda login: float(login[1]), reverse=True)
    logins = {
        str(user_id): str(now.timestamp()),
        **{user: time for user, time in newest if user != str(user_id)},
    }
    text, _ = issue(
        context.logins.token_keys,
        0,
        DEVICE,
        now + DEVICE_LIFETIME,
        now=now,
        extra=dict(list(logins.items())[:MAX_USERS]),
        token_id=device.id if device is not None else None,
    )
    COOKIE.set(context, request, response, text, lifetime=DEVICE_LIFETIME)


def _device(context: ServerContext, request: Request | Websocket) -> Token | None:
    cookie = COOKIE.read(context, request)
    if not cookie:
        return None
    try:
        return read(context.logins.token_keys, cookie, (DEVICE,), now=context.clock.now())
    except InvalidToken:
        return None
