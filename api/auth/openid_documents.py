"""The documents of the OpenID provider: metadata and keys (OpenID Connect Discovery 1.0, RFC 7517).

Each is cached for an hour; requests use actors/http/http.py, with its deadlines and limits.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import jwt
import msgspec
import trio

from motorpool.actors.http.errors import OutgoingError, one_line
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse

CACHE_SECONDS = 3600.0
RETRY_SECONDS = 10.0
"""A document that could not be read, or lacks the key of a token, is not requested again before this."""
REQUEST_SECONDS = 10.0
MAX_BYTES = 256 * 1024

_log = logging.getLogger(__name__)

T = TypeVar("T")


class ProviderUnavailable(Exception):
    """The provider cannot be reached or answers nonsense; the text is shown to users."""


class Metadata(msgspec.Struct, frozen=True):
    """Provider metadata (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    scopes_supported: tuple[str, ...] = ()


class KeySet(msgspec.Struct, frozen=True):
    """A JWK set (RFC 7517, section 5); keys are parsed when they are used."""

    keys: tuple[dict[str, Any], ...]


class CachedDocument(Generic[T]):
    """A document that is read once for all callers."""

    def __init__(self, read: Callable[[], Awaitable[T]], monotonic: Callable[[], float]) -> None:
        self._read = read
        self._monotonic = monotonic
        self._lock = trio.Lock()
        self._content: T | None = None
        self._read_at = float("-inf")
        self._failed_at = float("-inf")

    async def get(self, *, newer: bool = False) -> T:
        """Return the document, at most an hour old; with `newer` at most ten seconds old.

        Raises:
            ProviderUnavailable: it could not be read; the next attempt is made after ten seconds.
        """
        async with self._lock:
            now = self._monotonic()
            fresh = now - self._read_at < (RETRY_SECONDS if newer else CACHE_SECONDS)
            if self._content is not None and fresh:
                return self._content
            if now - self._failed_at < RETRY_SECONDS:
                raise ProviderUnavailable("the OpenID provider could not be reached a moment ago")
            try:
                self._content = await self._read()
            except ProviderUnavailable:
                self._failed_at = now
                raise
            self._read_at = now
            return self._content


class ProviderDocuments:
    """The documents of one issuer, and requests to its other endpoints."""

    def __init__(
        self, issuer: str, http: OutgoingHttp, monotonic: Callable[[], float], *, trusted: bool = True
    ) -> None:
        """`trusted` says that the operator vouches for the address of the issuer."""
        self._issuer = issuer
        self._trusted = trusted
        self._http = http
        self._metadata = CachedDocument(self._read_metadata, monotonic)
        self._keys = CachedDocument(self._read_keys, monotonic)

    async def metadata(self) -> Metadata:
        """Return the provider metadata. Raises ProviderUnavailable."""
        return await self._metadata.get()

    async def key(self, algorithm: str, kid: object) -> jwt.PyJWK:
        """Return the key that a token names; the keys are read again if it is not among them.

        Raises:
            ProviderUnavailable: they cannot be read.
            jwt.PyJWTError: there is no such key, or it is not for this algorithm.
        """
        for newer in (False, True):
            suitable = [
                key
                for key in (await self._keys.get(newer=newer)).keys
                if key.get("use", "sig") == "sig"
                and key.get("alg", algorithm) == algorithm
                and (kid is None or key.get("kid") == kid)
            ]
            if len(suitable) == 1:
                return jwt.PyJWK(suitable[0], algorithm)
        raise jwt.InvalidKeyError("not signed by a key of this provider")

    async def request(
        self, method: str, address: str, *, headers: Mapping[str, str], form: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Send a request to the provider. Raises ProviderUnavailable if there is no answer."""
        try:
            return await self._http.request(
                method,
                address,
                # Other hosts that the operator's one refers to are as untrusted as any.
                trusted=self._trusted and urlsplit(address).hostname == urlsplit(self._issuer).hostname,
                headers={"Accept": "application/json", **headers},
                form=form,
                seconds=REQUEST_SECONDS,
                max_bytes=MAX_BYTES,
            )
        except (OutgoingError, ValueError) as error:
            _log.warning("the OpenID provider cannot be asked: %s", one_line(str(error)))
            raise ProviderUnavailable("the OpenID provider cannot be reached now") from None

    async def _read_metadata(self) -> Metadata:
        found = await self._fetch(self._issuer.rstrip("/") + "/.well-known/openid-configuration", Metadata)
        if found.issuer.rstrip("/") != self._issuer.rstrip("/"):
            _log.warning("the OpenID provider calls itself %s", one_line(found.issuer))
            raise ProviderUnavailable("the OpenID provider is not the one that is configured")
        addresses = [found.authorization_endpoint, found.token_endpoint, found.jwks_uri]
        if found.userinfo_endpoint is not None:
            addresses.append(found.userinfo_endpoint)
        # Without TLS only if the configured issuer has none.
        schemes = ("https://",) if self._issuer.startswith("https:") else ("https://", "http://")
        if not all(address.startswith(schemes) for address in addresses):
            raise ProviderUnavailable("the OpenID provider names addresses without TLS")
        return found

    async def _read_keys(self) -> KeySet:
        return await self._fetch((await self._metadata.get()).jwks_uri, KeySet)

    async def _fetch(self, address: str, shape: type[T]) -> T:
        answer = await self.request("GET", address, headers={})
        if not answer.ok:
            _log.warning("the OpenID provider answered %d at %s", answer.status, address)
            raise ProviderUnavailable("the OpenID provider does not answer as it should")
        return decode(answer, shape)


def decode(answer: HttpResponse, shape: type[T]) -> T:
    """Decode an answer of the provider. Raises ProviderUnavailable if it is malformed."""
    try:
        return msgspec.convert(answer.json(), shape)
    except (OutgoingError, msgspec.ValidationError) as error:
        _log.warning("an answer of the OpenID provider makes no sense: %s", one_line(str(error)))
        raise ProviderUnavailable("the OpenID provider does not answer as it should") from None
