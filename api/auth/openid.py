"""OpenID Connect client: the address for a login, and the identity behind a code (OpenID Connect Core 1.0).

Authorization code flow with PKCE (RFC 7636), state and nonce.
"""

import hmac
import logging
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import jwt
import msgspec

from motorpool.actors.http.errors import one_line
from motorpool.actors.http.http import OutgoingHttp
from motorpool.api.auth.openid_documents import Metadata, ProviderDocuments, ProviderUnavailable, decode
from motorpool.api.login_settings import OpenIdSettings

ASYMMETRIC = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Never `none`, nor an algorithm whose key is the client secret."""
LEEWAY_SECONDS = 60.0
"""How far the provider's clock may differ from ours, in seconds."""

MAX_SUBJECT_LENGTH = 255
"""OpenID Connect Core 1.0, section 2."""

_log = logging.getLogger(__name__)

Claims = Mapping[str, Any]


class LoginRefused(Exception):
    """The login is not accepted; the text is shown in the browser."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What the provider says about a user."""

    issuer: str
    subject: str
    """Identifies the user at this issuer for ever; the e-mail address may change."""
    email: str
    verified: bool | None
    """Whether the address is verified; None if the provider does not say."""
    name: str
    groups: frozenset[str]


class TokenResponse(msgspec.Struct, frozen=True):
    """The token endpoint's answer to a code."""

    id_token: str
    access_token: str = ""


class OpenIdProvider:
    """Client of the configured OpenID Connect provider."""

    def __init__(
        self,
        settings: OpenIdSettings,
        http: OutgoingHttp,
        monotonic: Callable[[], float],
        *,
        trusted: bool = True,
    ) -> None:
        """`trusted` says that the operator vouches for the address of the issuer."""
        assert settings.issuer is not None
        assert settings.client_id is not None
        self._settings = settings
        self._client_id = settings.client_id
        self._documents = ProviderDocuments(settings.issuer, http, monotonic, trusted=trusted)

    async def discover(self) -> Metadata:
        """Return what the provider tells of itself. Raises ProviderUnavailable."""
        return await self._documents.metadata()

    async def authorization_url(self, redirect: str, *, state: str, nonce: str, verifier: str) -> str:
        """Return the address that a browser is sent to for a login. Raises ProviderUnavailable."""
        metadata = await self._documents.metadata()
        scopes = dict.fromkeys(("openid", *self._settings.scopes))
        # Only if the provider lists it: others refuse a login with an unknown scope.
        if self._groups_matter and self._settings.groups_claim in metadata.scopes_supported:
            scopes[self._settings.groups_claim] = None
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect,
            "scope": " ".join(scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    async def fetch_identity(
        self, code: str, redirect: str, *, nonce: str, verifier: str, now: datetime
    ) -> Identity:
        """Exchange a code for the verified identity. Raises ProviderUnavailable and LoginRefused."""
        metadata = await self._documents.metadata()
        answer = await self._exchange(metadata, code, redirect, verifier)
        claims = await self._verify_id_token(metadata, answer.id_token, nonce, now)
        wanted = {"email", "email_verified"} | (
            {self._settings.groups_claim} if self._groups_matter else set()
        )
        if not wanted <= claims.keys() and metadata.userinfo_endpoint and answer.access_token:
            more = await self._fetch_userinfo(metadata.userinfo_endpoint, answer.access_token)
            if more.get("sub") != claims["sub"]:
                raise LoginRefused("the provider named two different users")
            # An address and its verification come from the same source.
            source = more if more.get("email") else claims
            address = {key: source.get(key) for key in ("email", "email_verified")}
            claims = {**more, **claims, **address}
        return self._read(metadata.issuer, claims)

    @property
    def _groups_matter(self) -> bool:
        return self._settings.admin_group is not None or self._settings.allow_group is not None

    async def _exchange(self, metadata: Metadata, code: str, redirect: str, verifier: str) -> TokenResponse:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": verifier,
        }
        headers = {}
        secret = self._settings.client_secret
        if secret is None:
            form["client_id"] = self._client_id
        elif "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            # RFC 6749, section 2.3.1: each part is form-encoded first.
            pair = f"{quote_plus(self._client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        else:
            form |= {"client_id": self._client_id, "client_secret": secret}
        answer = await self._documents.request("POST", metadata.token_endpoint, headers=headers, form=form)
        if answer.status >= 500:
            raise ProviderUnavailable("the OpenID provider cannot finish logins now")
        if not answer.ok:
            shown = one_line(answer.content[:500].decode(errors="replace"))
            _log.warning("the OpenID provider refused a code: %s", shown)
            raise LoginRefused("the provider did not accept its own code, or not this server")
        return decode(answer, TokenResponse)

    async def _verify_id_token(self, metadata: Metadata, token: str, nonce: str, now: datetime) -> Claims:
        """Verify the ID token and return its claims (OpenID Connect Core 1.0, section 3.1.3.7)."""
        try:
            header = jwt.get_unverified_header(token)
            algorithm = str(header.get("alg"))
            if algorithm not in ASYMMETRIC.intersection(metadata.id_token_signing_alg_values_supported):
                raise jwt.InvalidAlgorithmError("signed by an algorithm that is not this provider's")
            claims: dict[str, Any] = jwt.decode(
                token,
                await self._documents.key(algorithm, header.get("kid")),
                algorithms=[algorithm],
                audience=self._client_id,
                issuer=metadata.issuer,
                options={
                    "require": ["iss", "sub", "aud", "exp", "iat", "nonce"],
                    # Times are compared with the injected clock.
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
            begins, ends = float(claims.get("nbf", 0)), float(claims["exp"])
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            _log.warning("an ID token was refused: %s", one_line(str(error)))
            raise LoginRefused("the provider's word could not be verified") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else self._client_id) != self._client_id:
            raise LoginRefused("the provider's word is for another program")
        present = now.timestamp()
        if not begins - LEEWAY_SECONDS <= present < ends + LEEWAY_SECONDS:
            raise LoginRefused("the provider's word has expired, or a clock is wrong")
        if not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
            raise LoginRefused("the provider's word is for another login")
        return claims

    async def _fetch_userinfo(self, address: str, access_token: str) -> Claims:
        headers = {"Authorization": f"Bearer {access_token}"}
        answer = await self._documents.request("GET", address, headers=headers)
        if not answer.ok:
            raise ProviderUnavailable("the OpenID provider does not tell who has logged in")
        return decode(answer, dict[str, Any])

    def _read(self, issuer: str, claims: Claims) -> Identity:
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_LENGTH or "\x00" in subject:
            raise LoginRefused("the provider's word names no user")
        email = claims.get("email")
        if not isinstance(email, str) or "@" not in email:
            raise LoginRefused("the provider sent no e-mail address")
        names = (claims.get(key) for key in ("name", "preferred_username"))
        groups = claims.get(self._settings.groups_claim)
        listed = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        verified = claims.get("email_verified")
        if isinstance(verified, str):
            verified = verified.lower() == "true"
        return Identity(
            issuer=issuer,
            subject=subject,
            email=email.strip(),
            verified=verified if isinstance(verified, bool) else None,
            name=next((name for name in names if isinstance(name, str) and name.strip()), email).strip(),
            groups=frozenset(group for group in listed if isinstance(group, str)),
        )
