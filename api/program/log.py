"""The log on standard error: one line of text or one JSON object for each record."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from motorpool.api.program.settings import LogSettings

__all__ = ["JsonLines", "TextLines", "open_log"]


class TextLines(logging.Formatter):
    """Formats records for people: time, severity, logger, message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """Format the time of the record, in UTC."""
        del datefmt
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class JsonLines(TextLines):
    """Formats records for machines: one JSON object on each line."""

    def format(self, record: logging.LogRecord) -> str:
        """Encode a record; a traceback is one string."""
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
    """Configure logging to `stream`, by default standard error, as the settings say."""
    output = logging.StreamHandler(stream or sys.stderr)
    output.setFormatter(JsonLines() if settings.format == "json" else TextLines())
    logging.basicConfig(level=settings.level.upper(), handlers=[output], force=True)
    # Libraries log statement texts and a line for each request.
    for name in ("hypercorn.error", "hypercorn.access", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
