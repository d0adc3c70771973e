"""What `motorpool settings` prints: every setting with its default, unit and meaning."""

import ast
import inspect
import itertools
import json
import typing
from collections.abc import Iterator
from pathlib import Path

from motorpool.api.program.configuration import Value, keys, sections


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


def sentences() -> dict[tuple[str, str], str]:
    """Return what each setting means, by its section and name: read from the source, which takes a while."""
    return {
        (section, name): sentence
        for section, struct in sections().items()
        for name, sentence in _field_docstrings(struct).items()
    }


def _field_docstrings(struct: type[typing.Any]) -> dict[str, str]:
    """Return the text below each field of a class, on one line; Python does not keep it."""
    body = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        item.target.id: " ".join(below.value.value.split())
        for item, below in itertools.pairwise(body.body)
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


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
