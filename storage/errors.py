"""The errors of storage, independent of the driver."""

import errno
import os
from typing import ClassVar

OUT_OF_FILES = frozenset({errno.EMFILE, errno.ENFILE})
"""Errors of the system: the process, or all processes, have too many files open."""


class StorageError(Exception):
    """The base of all errors of storage; raised itself only for unexpected errors of the database."""


class StorageUnavailable(StorageError):
    """The call failed for a reason that may pass, and may be repeated.

    It is not known whether a write that failed with this error was committed. Raised itself where the
    database cannot be reached: it is down, starting, or refuses us.
    """

    text: ClassVar[str] = "the database cannot be reached now"
    """The reason in one line, for everybody; the message of the error is for administrators."""
    is_outage: ClassVar[bool] = True
    """Whether other calls fail as well."""


class NoAnswer(StorageUnavailable):
    """The database did not answer in time."""

    text = "the database does not answer in time"


class DatabaseReadOnly(StorageUnavailable):
    """The database takes no changes: it is a standby, or was made read-only. Nothing was written."""

    text = "the database is read-only now"


class DiskFull(StorageUnavailable):
    """The disk of the database is full. Nothing was written."""

    text = "the disk of the database is full"
    SIGN: ClassVar[str] = os.strerror(errno.ENOSPC)
    """Part of what PostgreSQL says then, whatever it could not write."""


class TooManyFiles(StorageUnavailable):
    """No connection can be opened, since this process or the system has too many files open."""

    text = "the server has too many files and connections open"


class TooManyConnections(StorageUnavailable):
    """The database lets nobody in: it has as many connections as it may have."""

    text = "the database takes no more connections"


class Overloaded(StorageUnavailable):
    """Too many callers wait for connections or for their turn. Nothing was written."""

    text = "the server is too busy; try again"
    is_outage = False


class Interrupted(StorageUnavailable):
    """The database ended this transaction, for another one or for idling; nothing was written."""

    text = "the change was interrupted; try again"
    is_outage = False


class LockNotAvailable(StorageUnavailable):
    """A lock was not free in time, or two transactions waited for each other; nothing was written."""

    text = "what is to be changed is locked now; try again"
    is_outage = False


class TookTooLong(StorageUnavailable):
    """A statement was cancelled, because it took longer than it may."""

    text = "the request took the database too long"
    is_outage = False


class DutyLost(StorageUnavailable):
    """Another server does now what the transaction was for; nothing was written."""

    is_outage = False


class NotFound(StorageError):
    """A required row does not exist."""


class Conflict(StorageError):
    """A value that must be unique is already in use."""

    def __init__(self, field: str, constraint: str) -> None:
        super().__init__(f"{field} is taken already")
        self.field = field
        """The name of the field in the API, such as "uniqueId"."""
        self.constraint = constraint
        """The name of the constraint or unique index."""


class StatementRejected(StorageError):
    """A value violates a constraint: a reference does not exist, or a number is out of range."""

    def __init__(self, text: str, *, shown: str | None = None) -> None:
        super().__init__(text)
        self.shown = text if shown is None else shown
        """What users are told; the text itself may be the database's."""


class VersionFound(StorageError):
    """A device has days that reports may have kept (storage/devices/report_days.py)."""

    SQLSTATE = "MP001"


class SetupFailed(StorageError):
    """The database cannot be used; the message says in one line what to do. Raised only at startup."""


class AlreadyRunning(SetupFailed):
    """Another server uses the same data folder."""

    def __init__(self, folder: str, pid: int | None) -> None:
        of = f" (process {pid})" if pid else ""
        super().__init__(f"another server{of} works on the data in {folder}")
        self.folder = folder
        self.pid = pid
