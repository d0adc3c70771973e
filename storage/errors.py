"""The errors of storage, independent of the driver."""


class StorageError(Exception):
    """The base of all errors of storage; raised itself only for unexpected errors of the database."""


class StorageUnavailable(StorageError):
    """The database is temporarily unavailable (down, restarting, full, overloaded); the call may be repeated.

    It is not known whether a write that failed with this error was committed.
    """


class LockNotAvailable(StorageUnavailable):
    """A lock was not free in time, or two transactions waited for each other; nothing was written."""


class TookTooLong(StorageUnavailable):
    """A statement was cancelled, because it took longer than it may."""


class DutyLost(StorageUnavailable):
    """Another server does now what the transaction was for; nothing was written."""


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
