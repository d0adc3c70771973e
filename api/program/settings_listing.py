"""What `motorpool settings` prints: every setting with its default, unit and meaning."""

import json
from collections.abc import Iterator
from pathlib import Path

from motorpool.api.configuration.keys import Value, keys, sentences


def describe() -> Iterator[str]:
    """Yield the lines of `motorpool settings`: a commented motorpool.toml with every default."""
    section = ""
    meanings = sentences()
    for key in keys():
        if key.section != section:
            section = key.section
            yield ""
            yield f"[{section}]"
        unit = f" ({key.unit})" if key.unit else ""
        choices = f" One of: {', '.join(key.choices)}." if key.choices else ""
        yield f"# {meanings[key.section, key.name]}{choices}{unit}  {key.variable}"
        yield f"# {key.name} = {_as_toml(key.default)}"


def _as_toml(value: Value) -> str:
    match value:
        case None:
            return '""'
        case bool():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(f'"{item}"' for item in value) + "]"
        case str() | Path():
            # The escapes of JSON are TOML's too.
            return json.dumps(str(value), ensure_ascii=False)
        case _:
            return f"{value:g}" if isinstance(value, float) else str(value)
