"""Declared operations: what a request may carry, what it is answered, and the function that serves it.

Routes, checks of the input and the OpenAPI document all come from these declarations, so that none of them
can say what the others do not.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from quart import Response

from motorpool.api.engine.call import Call

__all__ = ["AS_TYPED", "BodyRules", "Content", "Operation", "Operations"]

Serve = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class BodyRules:
    """What the type of a body cannot say, for the document; fields by their names in Python."""

    needed: tuple[str, ...] = ()
    """Although they have a default, and texts must not be blank."""
    longest: Mapping[str, int] = field(default_factory=dict)
    """Characters."""
    ignored: tuple[str, ...] = ()
    """A body may hold them, as clients send back what they got."""
    optional: bool = False
    """The request may come without a body."""


AS_TYPED = BodyRules()


@dataclass(frozen=True, kw_only=True)
class Content:
    """The body of an answer."""

    media_type: str = "application/json"
    shape: Any = None
    """A type msgspec knows, for JSON; None for text and files."""
    text: str = ""
    """What it is, for the OpenAPI document."""
    or_text: bool = False
    """It may be plain text in place of this."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names of headers that are always there, and what they say."""


NOTHING = Content(media_type="")
"""An answer without a body."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    """Below /api, parameters in braces: "/devices/{id}"; `{name:text}` is one segment of text, and
    `{name:path}` all that follows."""
    tag: str
    name: str
    summary: str
    serve: Serve
    description: str = ""
    """What the summary leaves unsaid."""
    query: type[msgspec.Struct] | None = None
    form: type[msgspec.Struct] | None = None
    body: Any = None
    body_rules: BodyRules = AS_TYPED
    raw: tuple[str, ...] = ()
    """Media types of a body of plain bytes, which `serve` reads itself. It may take long to come, so `serve`
    is cancelled when the client goes, and shields what must not end halfway."""
    answers: Mapping[int, Content] = field(default_factory=dict)
    refusals: tuple[int, ...] = ()
    public: bool = False
    """Served without login; a credential, if any, is still read."""
    quick: bool = False
    """Asked so often that the way through Quart would cost more than the answer: GET below /stream, which
    touches none of Quart's contexts (`api/asgi.py`)."""

    @property
    def rule(self) -> str:
        """The path as the router writes it."""
        return "/api" + re.sub(r"\{(\w+)(:text|:path)?\}", _converter, self.path)

    @property
    def plain_path(self) -> str:
        """The path as OpenAPI writes it."""
        return self.path.replace(":text}", "}").replace(":path}", "}")

    @property
    def path_parameters(self) -> tuple[tuple[str, type], ...]:
        """Names and types of what stands in braces."""
        found = re.findall(r"\{(\w+)(:text|:path)?\}", self.path)
        return tuple((name, str if text else int) for name, text in found)


def _converter(found: "re.Match[str]") -> str:
    kind = {None: "int:", ":text": "", ":path": "path:"}[found[2]]
    return f"<{kind}{found[1]}>"


class Operations:
    """The operations of one resource, collected by decorators."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._all: list[Operation] = []

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._all)

    def add(self, operation: Operation) -> None:
        """Add an operation that is declared elsewhere, by a family."""
        self._all.append(operation)

    def operation(
        self,
        method: str,
        path: str,
        *,
        query: type[msgspec.Struct] | None = None,
        form: type[msgspec.Struct] | None = None,
        body: object = None,
        body_rules: BodyRules = AS_TYPED,
        raw: tuple[str, ...] = (),
        answer: object = None,
        answers: Mapping[int, Content] | None = None,
        refusals: tuple[int, ...] = (),
        public: bool = False,
        quick: bool = False,
    ) -> Callable[[Serve], Serve]:
        """Declare the decorated function as the operation; its docstring's first line is the summary.

        `answer` is the JSON type of a 200; anything else stands in `answers`. What follows in the docstring
        is the operation's description.
        """

        def declare(serve: Serve) -> Serve:
            summary, _, description = (inspect.getdoc(serve) or "").partition("\n")
            self.add(
                Operation(
                    method=method,
                    path=path,
                    tag=self.tag,
                    name=serve.__name__,
                    summary=summary.rstrip("."),
                    description=description.strip(),
                    serve=serve,
                    query=query,
                    form=form,
                    body=body,
                    body_rules=body_rules,
                    raw=raw,
                    answers=answers if answers is not None else {200: Content(shape=answer)},
                    refusals=refusals,
                    public=public,
                    quick=quick,
                )
            )
            return serve

        return declare
