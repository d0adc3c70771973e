"""The log of the process: one line of text or one JSON object a record, on standard error."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from motorpool.api.program.settings import LogSettings

__all__ = ["JsonLines", "TextLines", "open_log"]


class TextLines(logging.Formatter):
    """For people: time, severity, where, what."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Show the record's own instant, UTC."""
        del datefmt
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class JsonLines(TextLines):
    """For machines: one object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Encode the record; a traceback is one string."""
        line: dict[str, str] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def open_log(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send every logger's records to `stream` (standard error) in the form of the settings."""
    output = logging.StreamHandler(stream or sys.stderr)
    output.setFormatter(JsonLines() if settings.format == "json" else TextLines())
    logging.basicConfig(level=settings.level.upper(), handlers=[output], force=True)
    # Statement texts and per-request lines of the libraries are not ours to repeat.
    for name in ("hypercorn.error", "hypercorn.access", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
