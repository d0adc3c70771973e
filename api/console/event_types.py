"""The types of events for the console, and their names in English (docs/console.md#types)."""

import json
import sys

from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.words.catalog import FALLBACK, read_catalog

HEAD = "// Written by build.py from the types of events and their English words; a change here is lost.\n"


def write_event_types() -> str:
    """Return a module with the types of events in the order of lists, and their names as texts."""
    names = read_catalog(FALLBACK).names
    types = [name for name in names if name in EVENT_TYPES]
    texts = {f"event.type.{name}": text for name, text in names.items()}
    return (
        f"{HEAD}export const EVENT_TYPES = {json.dumps(types)} as const;\n"
        f"export const EVENT_NAMES = {json.dumps(texts)} as const;\n"
    )


if __name__ == "__main__":
    sys.stdout.write(write_event_types())
