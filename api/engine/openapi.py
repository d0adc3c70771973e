"""The OpenAPI 3.1 document, from the declared operations."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus

import msgspec

from motorpool.api.engine.descriptions import ERROR_STATUSES, PARAMETERS, PATH_VALUES, describe_parameter
from motorpool.api.engine.examples import BODIES
from motorpool.api.engine.operations import Content, Operation
from motorpool.api.engine.schemas import Json, Schemas
from motorpool.api.json import camel

DESCRIPTION = """\
A server for vehicle fleets: positions, live video, commands.

Times are ISO 8601 in UTC with `Z`; bodies may hold milliseconds since 1970 in their place. Speeds are knots,
distances metres, durations milliseconds. What is left out of a body, or null, takes its default; unknown
fields are ignored. Refusals are one line of plain text.

`GET /socket` is a WebSocket: it takes the session cookie, `Authorization`, or `?token=`, and sends JSON
objects with any of the lists `devices`, `positions` and `events` (as described here) as they change, and `{}`
now and then to keep the line alive.
"""

RETRY_AFTER: Json = {
    "description": "Seconds to wait.",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}
TEXT: Json = {"text/plain": {"schema": {"type": "string"}}}
BYTES: Json = {"type": "string", "format": "binary"}


def describe(operations: Iterable[Operation], *, version: str, server: str = "/api") -> Json:
    """Build the document."""
    listed = sorted(operations, key=lambda each: (each.tag, each.plain_path))
    schemas = Schemas(
        content.shape
        for operation in listed
        for content in operation.answers.values()
        if content.shape is not None
    )
    paths: dict[str, Json] = {}
    for operation in listed:
        paths.setdefault(operation.plain_path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Motorpool",
            "version": version,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "security": [{"BasicAuth": []}, {"ApiKey": []}, {"Session": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in listed)],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.components.items())),
            "responses": {_refusal_name(status): _refusal(status) for status in sorted(ERROR_STATUSES)},
            "securitySchemes": {
                "BasicAuth": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "E-mail address and password.",
                },
                "ApiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of `POST /session/token` or of a share link.",
                },
                "Session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "JSESSIONID",
                    "description": "The cookie of `POST /session`; over TLS `__Host-JSESSIONID` in browsers.",
                },
            },
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> Json:
    name = camel(operation.name)
    described: Json = {"operationId": name, "summary": operation.summary}
    if operation.description:
        described["description"] = operation.description
    described["tags"] = [operation.tag]
    parameters = [
        *(_path_parameter(each, kind) for each, kind in operation.path_parameters),
        *(() if operation.query is None else _query_parameters(operation.query, schemas)),
        *(_header_parameter(header, text) for header, text in operation.headers.items()),
    ]
    if parameters:
        described["parameters"] = parameters
    body = _body(operation, schemas)
    if body is not None:
        if name in BODIES:
            for content in body["content"].values():
                content["example"] = BODIES[name]
        described["requestBody"] = body
    if operation.public:
        described["security"] = []
    described["responses"] = {
        str(status): _answer(status, content, schemas) for status, content in operation.answers.items()
    }
    for status in sorted(_refusals(operation) - operation.answers.keys()):
        reference = f"#/components/responses/{_refusal_name(status)}"
        described["responses"][str(status)] = {"$ref": reference}
    return described


def _body(operation: Operation, schemas: Schemas) -> Json | None:
    if operation.body is not None:
        schema = schemas.of_body(operation.body, operation.body_rules)
        required = not operation.body_rules.optional
        return {"required": required, "content": {"application/json": {"schema": schema}}}
    if operation.raw_media_types:
        return {"required": True, "content": {kind: {"schema": BYTES} for kind in operation.raw_media_types}}
    if operation.form is None:
        return None
    fields = _fields(operation.form)
    schema = {
        "type": "object",
        "properties": {
            field.encode_name: {
                "description": describe_parameter(operation.form, field.name, field.encode_name),
                **schemas.of_parameter(field),
            }
            for field in fields
        },
    }
    needed = [field.encode_name for field in fields if field.required]
    if needed:
        schema["required"] = needed
    return {
        "required": bool(needed),
        "content": {"application/x-www-form-urlencoded": {"schema": schema}},
    }


def _fields(shape: type[msgspec.Struct]) -> tuple[msgspec.inspect.Field, ...]:
    described = msgspec.inspect.type_info(shape)
    assert isinstance(described, msgspec.inspect.StructType)
    return described.fields


def _refusals(operation: Operation) -> set[int]:
    found = {*operation.errors, 503}
    if not operation.public:
        # 403 while the caller has to set up one-time codes first.
        found |= {401, 403, 429}
    if operation.query or operation.body is not None or operation.form or operation.raw_media_types:
        found.add(400)
    if operation.body is not None or operation.form or operation.raw_media_types:
        found.add(413)
    if operation.path_parameters:
        found.add(404)
    if operation.may_change:
        found.add(403)
    return found


def _refusal_name(status: int) -> str:
    return HTTPStatus(status).name.title().replace("_", "")


def _refusal(status: int) -> Json:
    described: Json = {"description": ERROR_STATUSES[status], "content": TEXT}
    if status in {429, 503}:
        described["headers"] = {"Retry-After": RETRY_AFTER}
    return described


def _answer(status: int, content: Content, schemas: Schemas) -> Json:
    described: Json = {"description": content.text or HTTPStatus(status).phrase}
    if content.headers:
        described["headers"] = {
            name: {"description": text, "required": True, "schema": {"type": "string"}}
            for name, text in content.headers.items()
        }
    if content.or_text:
        # First: a client that takes the first type it knows can read the other as text too.
        described["content"] = dict(TEXT)
    if content.shape is not None:
        answered = {content.media_type: {"schema": schemas.of_answer(content.shape)}}
        described["content"] = {**described.get("content", {}), **answered}
    elif content.media_type:
        types = [content.media_type, content.other_type] if content.other_type else [content.media_type]
        described["content"] = {each: {"schema": _SCHEMAS.get(each, BYTES)} for each in types}
    return described


_SCHEMAS: Mapping[str, Json] = {
    "application/json": {"type": "object"},
    "application/vnd.apple.mpegurl": {"type": "string"},
    "text/plain": {"type": "string"},
}
"""Schemas of answers without a type of ours; all others are bytes."""


def _header_parameter(header: str, text: str) -> Json:
    return {
        "name": header,
        "in": "header",
        "required": False,
        "description": text,
        "schema": {"type": "string"},
    }


def _path_parameter(name: str, kind: type) -> Json:
    schema: Json = {"type": "string", "minLength": 1}
    if kind is int:
        schema = {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**63 - 1}
    elif name in PATH_VALUES:
        schema = {"type": "string", "enum": list(PATH_VALUES[name])}
    text = PARAMETERS[name]
    return {"name": name, "in": "path", "required": True, "description": text, "schema": schema}


def _query_parameters(query: type[msgspec.Struct], schemas: Schemas) -> Iterator[Json]:
    for field in _fields(query):
        schema = schemas.of_parameter(field)
        text = schema.pop("description", None) or describe_parameter(query, field.name, field.encode_name)
        described: Json = {
            "name": field.encode_name,
            "in": "query",
            "required": field.required,
            "description": text,
            "schema": schema,
        }
        if schema.get("type") == "array":
            described["explode"] = True
        yield described
