"""The settings of the database, each written once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

__all__ = ["DatabaseSettings", "PostgresSettings"]


@dataclass(frozen=True, kw_only=True)
class PostgresSettings:
    """Patience towards the database."""

    pool_size: Annotated[int, Meta(ge=2, le=200, extra={"unit": "connections"})] = 8
    """Connections to the database."""
    start_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 120.0
    """At the start the database has so long to be there."""
    statement_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 30.0
    """A statement ends after this."""
    acquire_seconds: Annotated[float, Meta(ge=0.1, extra={"unit": "s"})] = 5.0
    """A request waits at most this long for a database connection, then answers 503."""


@dataclass(frozen=True, kw_only=True)
class DatabaseSettings(PostgresSettings):
    """Where the database is, with the limits of the section [postgres]."""

    data: Path = Path("data")
    """Folder of the embedded server."""
    url: str = "embedded"
    """`embedded`, or a postgresql:// URL of PostgreSQL 15 or later."""
    connect_seconds: float = 5.0
    """Opening a connection takes at most this long, in seconds; default 5."""
