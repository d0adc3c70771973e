"""What can go wrong with a table, whatever the driver calls it."""

__all__ = [
    "AlreadyRunning",
    "Conflict",
    "NotFound",
    "SetupFailed",
    "StatementRejected",
    "StorageError",
    "StorageUnavailable",
]


class StorageError(Exception):
    """The root of all that storage raises; raised itself only for what nobody foresaw."""


class StorageUnavailable(StorageError):
    """The database cannot answer now (down, restarting, full, overloaded); the same call may work later.

    Whether a write that ended so was committed is not known.
    """


class NotFound(StorageError):
    """A row that must be there is not."""


class Conflict(StorageError):
    """A value that must be unique is taken already."""

    def __init__(self, field: str, constraint: str) -> None:
        super().__init__(f"{field} is taken already")
        self.field = field
        """The API's name of the field: "uniqueId"."""
        self.constraint = constraint
        """The name of the constraint or unique index."""


class StatementRejected(StorageError):
    """A value that the tables cannot hold: a reference to nothing, a number out of range."""


class SetupFailed(StorageError):
    """The database cannot be used as it stands; one line says what a person must do. Only at the start."""


class AlreadyRunning(SetupFailed):
    """Another server works on the same data."""

    def __init__(self, folder: str, pid: int | None) -> None:
        of = f" (process {pid})" if pid else ""
        super().__init__(f"another server{of} works on the data in {folder}")
        self.folder = folder
        self.pid = pid
