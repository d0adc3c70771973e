"""Settings of the database.

`motorpool settings` prints the docstring of each field, its unit from `Meta` and its default.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

ROLES = ("devices", "api", "duties")
"""What a server may do for a cluster: open ports of devices, serve users, hold duties."""


@dataclass(frozen=True, kw_only=True)
class PostgresSettings:
    """Connections and timeouts of the database."""

    pool_size: Annotated[int, Meta(ge=2, le=200, extra={"unit": "connections"})] = 8
    """Size of the pool of database connections; from 3 on, one of them is kept for storing positions."""
    start_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 120.0
    """The database must accept connections within this time at startup."""
    statement_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 30.0
    """A statement is cancelled after this time."""
    acquire_seconds: Annotated[float, Meta(ge=0.1, extra={"unit": "s"})] = 5.0
    """A request waits at most this long for a database connection before it is answered with 503."""


@dataclass(frozen=True, kw_only=True)
class EncryptionSettings:
    """Keys of the secrets that the database holds, such as those of one-time codes."""

    keys: Annotated[tuple[str, ...], Meta(extra={"form": "key", "secret": True})] = ()
    """Keys of 32 bytes in base64: the first encrypts, all decrypt; after them those of the file
    encryption.key in the data folder, which is made for the embedded database. Without one nothing is
    encrypted."""


@dataclass(frozen=True, kw_only=True)
class DatabaseSettings(PostgresSettings):
    """The location of the database, and the settings of the section [postgres]."""

    data: Path = Path("data")
    """Data folder of the embedded server; default `data`."""
    keys: tuple[str, ...] = ()
    """Those of `EncryptionSettings`."""
    processes: int = 1
    """Most server processes that use the embedded server at the same time; default 1."""
    url: str = "embedded"
    """`embedded` (the default), or a postgresql:// URL of PostgreSQL 15 or later."""
    connect_seconds: float = 5.0
    """Timeout for opening a connection, in seconds; default 5."""
