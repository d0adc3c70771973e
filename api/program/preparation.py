"""What is done with a database before the servers of a machine use it, and what is printed then."""

import logging
from dataclasses import dataclass

from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.logins.password_rules import password_fault
from motorpool.api.logins.setup import fetch_setup_token
from motorpool.api.program.demo import Credentials, load_or_create_credentials
from motorpool.api.program.errors import StartFailed
from motorpool.api.settings import Settings
from motorpool.storage.accounts import server, users
from motorpool.storage.database.database import Database
from motorpool.storage.records import User
from motorpool.storage.upkeep.stored_secrets import encrypt_stored

SHARED_NAMES_SHOWN = 20
"""Most login names that the warning of duplicates lists."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What users are told who look at the output of the program."""

    login: Credentials | None
    """Of the demonstration."""
    setup_token: str
    waits_for_user: bool
    """Nobody has registered yet."""


async def prepare(
    settings: Settings, database: Database, passwords: PasswordHasher, *, demo: bool
) -> Prepared:
    """Encrypt what is not yet, make the first administrator, and warn of what is doubtful.

    Raises:
        StartFailed: the password of the first administrator is too weak.
    """
    await _look_after_secrets(database)
    login = load_or_create_credentials(settings.data) if demo else None
    email = login.email if login else settings.admin.email
    password = login.password if login else settings.admin.password
    if email is not None and password is not None:
        min_length = 0 if login else settings.login.password_min_length
        await _create_first_administrator(database, passwords, email, password, min_length)
    await warn_of_shared_names(database)
    return Prepared(
        login=login,
        setup_token=await fetch_setup_token(database),
        waits_for_user=not await server.is_initialised(database),
    )


def announce(settings: Settings, address: tuple[str, int], prepared: Prepared) -> None:
    """Print where the server is, with the logins of the demonstration or the link for the first user."""
    if "api" not in settings.node.roles:
        print(f"Motorpool is running for other servers at {settings.node.address}", flush=True)
        return
    url = _shown_url(settings, address)
    print(f"Motorpool is running at {url}", flush=True)
    login = prepared.login
    if login is not None:
        print(f"Log in as {login.email} with the password {login.password}", flush=True)
    if login is not None and login.operator is not None:
        operator = login.operator
        print(f"or, with fewer rights, as {operator.email} with {operator.password}", flush=True)
    if prepared.waits_for_user:
        print(
            "Nobody has registered yet. Who opens this link registers as the first user, the administrator:"
        )
        # Browsers send no fragment, so that no log of a proxy and no `Referer` shows the token.
        print(f"{url}#setup={prepared.setup_token}", flush=True)


def warn_of_retention(live: LiveSettings) -> None:
    """Say which retentions and quotas are unset in a database that is older than their defaults."""
    if live.unset and not live.is_new:
        _log.warning(
            "this database was made before there was a default retention: nothing is deleted by age or quota"
            " where these settings are unset: %s",
            ", ".join(live.unset),
        )


async def warn_of_shared_names(database: Database) -> None:
    """Name the users whom earlier versions gave a name to log in with that another user has as well."""
    shared = await users.shared_names(database, SHARED_NAMES_SHOWN)
    if shared:
        _log.warning(
            "a login name is another user's e-mail address, so its owner cannot log in with it; change one of"
            " each: %s",
            ", ".join(
                f"{name!r} (e-mail address of user {one}, login name of {two})" for name, one, two in shared
            ),
        )


async def _look_after_secrets(database: Database) -> None:
    """Encrypt secrets of before there was the key, and warn where there is none."""
    if not database.keyring.ids:
        _log.warning(
            "secrets in the database, such as keys of one-time codes, are not encrypted: set encryption.keys"
            " (docs/server.md#secrets-at-rest)"
        )
    await encrypt_stored(database)


async def _create_first_administrator(
    database: Database, passwords: PasswordHasher, email: str, password: str, min_length: int
) -> None:
    """Create the administrator of the settings or the demonstration if there has never been a user."""
    if await server.is_initialised(database):
        return
    if fault := password_fault(password, min_length, email):
        raise StartFailed(f"admin.{fault}")
    hashed = await passwords.hash(password)
    async with database.transaction() as transaction:
        if await server.initialise(transaction):
            user = User(name=email, email=email.strip(), administrator=True, device_limit=-1, user_limit=-1)
            made = await users.TABLE.insert(transaction, user)
            await users.set_password(transaction, made.id, hashed)


def _shown_url(settings: Settings, address: tuple[str, int]) -> str:
    """Return where users find the server, with a slash at the end."""
    host, port = address
    scheme = "https" if settings.http.tls_certificate else "http"
    shown = settings.public.url or f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    return f"{shown.rstrip('/')}/"
