"""The server that simulated devices connect to, and their registration there."""

import logging
from collections.abc import Sequence

import httpx
import msgspec
import trio

FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 15.0

_log = logging.getLogger(__name__)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Where devices connect."""

    host: str
    port_offset: int = 0
    """Added to every default device port."""

    def port(self, usual: int) -> int:
        """Return the port of the protocol with this default port."""
        return usual + self.port_offset


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """The account that registers the devices over the API."""

    server: str
    """Address of the server: "http://127.0.0.1:8082"."""
    email: str
    password: str


class NewDevice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Body of `POST /devices`."""

    name: str
    unique_id: str
    model: str
    category: str
    attributes: dict[str, int | str]


class RegistrationRefused(Exception):
    """The server refused to register devices; the text says why."""


async def register(account: Account, devices: Sequence[NewDevice]) -> int:
    """Register the devices that the server does not have yet, and return their number; wait for the server.

    Raises:
        RegistrationRefused: wrong credentials, or a device was refused.
    """
    auth = (account.email, account.password)
    async with httpx.AsyncClient(base_url=f"{account.server}/api", auth=auth, timeout=30.0) as client:
        listed = await request(client, "GET", "/devices", params={"all": "true"})
        known = {device["uniqueId"] for device in listed.json()}
        missing = [device for device in devices if device.unique_id not in known]
        for device in missing:
            await request(client, "POST", "/devices", json=msgspec.to_builtins(device))
        return len(missing)


async def request(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    *,
    params: dict[str, str] | None = None,
    json: object = None,
) -> httpx.Response:
    """Send a request; retry while the server is unreachable or answers with a server error.

    Raises:
        RegistrationRefused: the server answers with another status than 200 to 204.
    """
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            answer = await client.request(method, path, params=params, json=json)
        except httpx.TransportError as error:
            _log.info("no server at %s yet: %s", client.base_url, error)
        else:
            if answer.status_code in (200, 202, 204):
                return answer
            if answer.status_code < 500:
                raise RegistrationRefused(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        await trio.sleep(pause)
        pause = min(2 * pause, MAX_PAUSE_SECONDS)
