"""Declared operations: parameters, body, answers, and the function that serves them.

Routes, validation and the OpenAPI document are all derived from these declarations, so they cannot disagree.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import msgspec
from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.http.request_body import FORM_BYTES

Serve = Callable[[Call], Awaitable[Response]]

JSON_BYTES = 1 << 20
"""Largest JSON body."""


@dataclass(frozen=True, kw_only=True)
class BodyRules:
    """What the type of a body cannot say; fields are named as in Python."""

    required: tuple[str, ...] = ()
    """Fields that must be sent although they have a default; texts among them must not be blank."""
    max_lengths: Mapping[str, int] = field(default_factory=dict)
    """Field -> how many characters it may have."""
    ignored: tuple[str, ...] = ()
    """Fields that a body may hold and that are ignored: clients send back what they received."""
    optional: bool = False
    """The request may come without a body."""


NO_RULES = BodyRules()


@dataclass(frozen=True, kw_only=True)
class Content:
    """The body of an answer."""

    media_type: str = "application/json"
    shape: Any = None
    """A type msgspec knows, for JSON; None for text and files."""
    text: str = ""
    """Description for the OpenAPI document."""
    or_text: bool = False
    """The answer may also be plain text."""
    other_type: str = ""
    """Another media type that the answer may have."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that are always present -> their description."""


NO_CONTENT = Content(media_type="")
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
    """Further paragraphs for the OpenAPI document."""
    query: type[msgspec.Struct] | None = None
    form: type[msgspec.Struct] | None = None
    body: Any = None
    body_rules: BodyRules = NO_RULES
    headers: Mapping[str, str] = field(default_factory=dict)
    """Optional headers of the request -> their description."""
    raw_media_types: tuple[str, ...] = ()
    """Media types of a body of bytes, which `serve` reads itself. An upload may take long, so `serve` is
    cancelled when the client disconnects, and shields what must not be interrupted."""
    answers: Mapping[int, Content] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    """Statuses of its errors beside those that any operation may have."""
    public: bool = False
    """Served without login; a credential, if any, is still read."""
    for_players: bool = False
    """Requested by players several times a second: does not wait until changed settings of the server, which
    it does not use, have been read."""
    changes: bool | Callable[[Call], bool] = False
    """Whether a GET changes something, such as one that logs in; or a function that says it of a request."""

    @cached_property
    def rule(self) -> str:
        """The path in the router's notation."""
        return "/api" + re.sub(r"\{(\w+)(:text|:path)?\}", _converter, self.path)

    @property
    def may_change(self) -> bool:
        """Whether a request for it may change something."""
        return self.method != "GET" or self.changes is not False

    def is_change(self, call: Call) -> bool:
        """Return whether a request changes something, so that pages of other sites may not send it."""
        return self.method != "GET" or (self.changes(call) if callable(self.changes) else self.changes)

    @property
    def body_bytes(self) -> int:
        """Most bytes that `Call.raw_body` reads; uploads that read `Call.body_stream` have another limit."""
        return FORM_BYTES if self.form is not None else JSON_BYTES

    @property
    def plain_path(self) -> str:
        """The path in OpenAPI's notation."""
        return self.path.replace(":text}", "}").replace(":path}", "}")

    @property
    def path_parameters(self) -> tuple[tuple[str, type], ...]:
        """Names and types of the parameters in braces."""
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
        """Add an operation that a resource declares."""
        self._all.append(operation)

    def operation(
        self,
        method: str,
        path: str,
        *,
        query: type[msgspec.Struct] | None = None,
        form: type[msgspec.Struct] | None = None,
        body: object = None,
        body_rules: BodyRules = NO_RULES,
        raw_media_types: tuple[str, ...] = (),
        answer: object = None,
        answers: Mapping[int, Content] | None = None,
        errors: tuple[int, ...] = (),
        public: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
        for_players: bool = False,
        changes: bool | Callable[[Call], bool] = False,
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
                    raw_media_types=raw_media_types,
                    answers=answers if answers is not None else {200: Content(shape=answer)},
                    errors=errors,
                    public=public,
                    headers=headers,
                    for_players=for_players,
                    changes=changes,
                )
            )
            return serve

        return declare


def find_operations(package: str, folders: Iterable[str]) -> tuple[Operation, ...]:
    """Return what modules of a package declare as `OPERATIONS`, and import them all.

    `package` and `folders` are its `__name__` and `__path__`.
    """
    modules = (importlib.import_module(f"{package}.{each.name}") for each in pkgutil.iter_modules(folders))
    return tuple(operation for module in modules for operation in getattr(module, "OPERATIONS", ()))
