"""The log on standard error: one line of text or one JSON object for each record."""

import errno
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import TextIO

import msgspec

from motorpool.actors.messages.conditions import DATABASE, DISK, OPEN_FILES
from motorpool.actors.messages.counters import LOG_LINES_SUPPRESSED
from motorpool.api.settings import LogSettings
from motorpool.runtime import ConditionKind, Conditions
from motorpool.storage.errors import StorageUnavailable, TooManyFiles

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

_CONTROL = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROL}
"""Controls of ASCII and Latin-1, separators of lines, and what reverses the direction of text."""
ESCAPES |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class TextLines(logging.Formatter):
    """Formats records for people: time, severity, logger, message."""

    def __init__(self, node: int | None = None) -> None:
        place = "" if node is None else f"node {node} "
        super().__init__(f"%(asctime)s %(levelname)-7s {place}%(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Format the time of the record, in UTC."""
        del datefmt
        return _time(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the line with control characters escaped: much of what is logged was sent by strangers."""
        record.message = record.message.translate(ESCAPES)
        return super().formatMessage(record)

    def formatException(self, ei: ExceptionInfo) -> str:
        """Format a traceback, indented, so that no line of it looks like a record of its own."""
        lines = super().formatException(ei).split("\n")
        return "\n".join("    " + line.translate(ESCAPES) for line in lines)


class JsonLines(logging.Formatter):
    """Formats records for machines: one JSON object on each line."""

    def __init__(self, node: int | None = None) -> None:
        super().__init__()
        self._node = node

    def format(self, record: logging.LogRecord) -> str:
        """Encode a record; a traceback is one string."""
        line: dict[str, str | int] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if self._node is not None:
            line["node"] = self._node
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


class RepeatedConditions(logging.Filter):
    """Leaves out what only repeats a condition that the log has told (runtime/conditions.py).

    Whatever works with the database notices its outage, some parts several times a second, and each file that
    finds no room would be a line. Errors of what works with the database stay: something is lost.
    """

    def __init__(self, conditions: Conditions) -> None:
        super().__init__()
        self._conditions = conditions

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written."""
        if not isinstance(record.args, tuple):
            return True
        kinds = [kind for value in record.args if (kind := _condition_of(value)) is not None]
        if (
            not any(self._conditions.find(kind) is not None for kind in kinds)
            or (DATABASE in kinds and record.levelno > logging.WARNING)
            or logging.getLogger().isEnabledFor(logging.DEBUG)
        ):
            return True
        LOG_LINES_SUPPRESSED.value += 1
        return False


def _condition_of(value: object) -> ConditionKind | None:
    """Return the condition that a value of a record tells of."""
    match value:
        case TooManyFiles():
            return OPEN_FILES
        case StorageUnavailable():
            return DATABASE
        case OSError(errno=errno.ENOSPC):
            return DISK
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return OPEN_FILES
        case _:
            return None


@contextmanager
def without_repetitions(conditions: Conditions) -> Iterator[None]:
    """Have the log leave out what RepeatedConditions names, for the body."""
    repeated = RepeatedConditions(conditions)
    handlers = tuple(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(repeated)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(repeated)


def open_log(settings: LogSettings, stream: TextIO | None = None, node: int | None = None) -> None:
    """Configure logging to `stream`, by default standard error, as the settings say.

    `node` is the index of the server where several of a machine write to the same stream.
    """
    output = logging.StreamHandler(stream or sys.stderr)
    output.setFormatter(JsonLines(node) if settings.format == "json" else TextLines(node))
    logging.basicConfig(level=settings.level.upper(), handlers=[output], force=True)
    # Libraries log statement texts and a line for each request.
    for name in ("hypercorn.error", "hypercorn.access", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
