"""The text below each field of a class, which Python does not keep: read from the source."""

import ast
import inspect
import itertools
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any


def field_docstrings(record: type[Any]) -> Mapping[str, str]:
    """Return the docstring of each field of a class that has one, also of inherited fields, on one line."""
    found: dict[str, str] = {}
    for owner in (each for each in reversed(record.__mro__) if "__annotations__" in vars(each)):
        for item, below in itertools.pairwise(_classes(owner.__module__).get(owner.__qualname__, ())):
            match item, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    found[name] = " ".join(text.split())
    return found


@cache
def _classes(module: str) -> Mapping[str, list[ast.stmt]]:
    """Return what the classes at the top of a module consist of."""
    statements = ast.parse(inspect.getsource(sys.modules[module])).body
    return {each.name: each.body for each in statements if isinstance(each, ast.ClassDef)}
