"""Errors that end the program with one line."""

from motorpool.runtime import ActorFailed, first_error
from motorpool.storage.errors import StorageError


class StartFailed(Exception):
    """The program cannot start or continue; the text is its last line on standard error. Exit code 1."""


def is_foreseen(error: BaseException | None) -> bool:
    """Return whether an operator can see to an error: one line is enough, and a traceback is of no use.

    That is, it comes from the system or the database, also where an actor that starts has met it; of a group
    all do.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_foreseen(each) for each in error.exceptions)
    if isinstance(error, ActorFailed):
        return is_foreseen(error.__cause__)
    return isinstance(error, StartFailed | StorageError | OSError)


def error_line(error: BaseException) -> str:
    """Return one line that names the root cause of an error, a group of errors, or a chain of causes."""
    root = first_error(error)
    while root.__cause__ is not None and not isinstance(root, StorageError | OSError | StartFailed):
        root = first_error(root.__cause__)
    if isinstance(root, OSError) and root.strerror:
        text = root.strerror if root.filename is None else f"{root.filename}: {root.strerror}"
    else:
        text = str(root) or type(root).__name__
    return text.partition("\n")[0]
