"""Settings of logins, users and shares; the form of a setting is described in api/settings.py."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

OPTIONAL, ADMINISTRATORS, EVERYBODY = "optional", "administrators", "everybody"


@dataclass(frozen=True, kw_only=True)
class LoginSettings:
    """Limits on guessing, which count failures only, and the cost of a password hash."""

    failures_per_account: Annotated[int, Meta(ge=1, extra={"unit": "failures"})] = 10
    """Failed logins of one account within the window before 429; each known place has a count of its own."""
    failures_per_address: Annotated[int, Meta(ge=1, extra={"unit": "failures"})] = 50
    """Failed logins from one unknown address within the window before 429."""
    window_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 300.0
    """The window in which failures count."""
    password_min_length: Annotated[int, Meta(ge=0, le=128, extra={"unit": "characters"})] = 8
    """Minimum length of a new password, which also must be neither the user's own name or address nor a
    common password; 0 accepts any password."""
    fresh_minutes: Annotated[float, Meta(ge=0, le=1440, extra={"unit": "min"})] = 15.0
    """How long after a login users may change what guards their account, such as password, one-time-code key
    and address, without giving the current password."""
    second_factor: Annotated[str, Meta(extra={"choices": (OPTIONAL, ADMINISTRATORS, EVERYBODY)})] = OPTIONAL
    """Of whom one-time codes are demanded: who has none can log in with a password only to set them up."""
    hash_memory_kib: Annotated[int, Meta(ge=8192, le=4194304, extra={"unit": "KiB"})] = 65536
    """Memory of one password hash (Argon2id)."""
    hash_rounds: Annotated[int, Meta(ge=1, le=100)] = 3
    """Passes of one password hash (Argon2id)."""
    hashes_at_once: Annotated[int, Meta(ge=1)] = 2
    """Logins whose password is checked at once, beside one new password; further ones wait."""
    hashes_waiting: Annotated[int, Meta(ge=1, extra={"unit": "logins"})] = 64
    """Logins that may wait for this; further ones are answered with 503."""


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """What a self-registered user gets."""

    device_limit: Annotated[int, Meta(ge=-1)] = -1
    """Devices a self-registered user may add; -1 is no limit."""
    expiration_days: Annotated[float, Meta(ge=0, extra={"unit": "days"})] = 0.0
    """A self-registered user expires after this; 0 is never."""
    reset_minutes: Annotated[float, Meta(ge=1, le=10080, extra={"unit": "min"})] = 60.0
    """How long a mailed link can be used to set a new password."""
    resets_per_account: Annotated[int, Meta(ge=1, extra={"unit": "mails"})] = 3
    """Such mails that one account gets within that time."""
    tests_per_hour: Annotated[int, Meta(ge=1, le=10_000, extra={"unit": "tests"})] = 20
    """Test messages that a user may send to themselves within an hour before 429."""
    resets_per_address: Annotated[int, Meta(ge=1, extra={"unit": "mails"})] = 20
    """Such mails that one address may ask for within that time before 429."""
    registrations_per_address: Annotated[int, Meta(ge=1, extra={"unit": "users"})] = 20
    """Users that may register from one address within an hour before 429."""


@dataclass(frozen=True, kw_only=True)
class ShareSettings:
    """What the guests of a shared device or group may do besides looking."""

    commands: bool = False
    """Guests may send commands where who shared may."""
    reports: bool = False
    """Guests see history and reports where who shared does."""


@dataclass(frozen=True, kw_only=True)
class OpenIdSettings:
    """Logging in through an OpenID Connect provider; its redirect address is /api/session/openid/callback."""

    issuer: Annotated[str | None, Meta(extra={"form": "url", "destination": True})] = None
    """The provider's issuer address; the rest is read from its discovery document."""
    client_id: str | None = None
    """What the provider knows this server by."""
    client_secret: Annotated[str | None, Meta(extra={"secret": True})] = None
    """The secret that belongs to it."""
    force: bool = False
    """Switches passwords off: all users log in through the provider."""
    allow_registration: bool = False
    """Creates unknown users at their first login, although registration is closed."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    """What is asked of the provider."""
    groups_claim: str = "groups"
    """The claim that holds a user's groups."""
    admin_group: str | None = None
    """Who is in this group is an administrator."""
    allow_group: str | None = None
    """Only who is in this group, or in `admin_group`, may log in."""
    require_verified: bool = False
    """Refuses who comes without `email_verified`; for providers where people type any address."""

    @property
    def enabled(self) -> bool:
        """A provider is configured."""
        return self.issuer is not None and self.client_id is not None

    @property
    def forced(self) -> bool:
        """And it is the only way."""
        return self.enabled and self.force
