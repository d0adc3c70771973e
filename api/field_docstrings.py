"""The text below each field of a class, which Python does not keep: read from the source."""

import ast
import inspect
import itertools
import linecache
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any


def field_docstrings(record: type[Any]) -> Mapping[str, str]:
    """Return the docstring of each field of a class that has one, also of inherited fields, on one line."""
    found: dict[str, str] = {}
    for owner in (each for each in reversed(record.__mro__) if "__annotations__" in vars(each)):
        found |= _of_classes(owner.__module__).get(owner.__qualname__, {})
    return found


@cache
def _of_classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the fields of each class at the top of a module."""
    statements = ast.parse(inspect.getsource(sys.modules[module])).body
    # The source is not needed again.
    linecache.clearcache()
    return {each.name: _of_fields(each.body) for each in statements if isinstance(each, ast.ClassDef)}


def _of_fields(body: Sequence[ast.stmt]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for item, below in itertools.pairwise(body):
        match item, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                found[name] = " ".join(text.split())
    return found
