"""The document as a whole: complete against the specification's list of operations, valid, and true."""

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest

from motorpool.api.app import openapi_document
from motorpool.api.engine.descriptions import COMMON_FIELDS, PARAMETERS
from motorpool.api.engine.examples import BODIES, EXAMPLES
from motorpool.api.engine.openapi import describe
from motorpool.api.json import decode
from motorpool.api.resources import OPERATIONS


@pytest.fixture(scope="module")
def document():
    return describe(OPERATIONS, version="1.2.3")


@pytest.fixture(scope="module")
def operations(document):
    """By name: method, path and what is said of it."""
    return {
        entry["operationId"]: (method, path, entry)
        for path, entries in document["paths"].items()
        for method, entry in entries.items()
    }


def named_by_the_specification():
    lines = (Path(__file__).parent / "operations.tsv").read_text().splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return {f"{method.lower()} {path}" for method, path in pairs}


def test_every_operation_of_the_specification_is_described(document):
    named = named_by_the_specification()
    assert len(named) == 179
    described = {f"{method} {path}" for path, entries in document["paths"].items() for method in entries}
    assert named <= described


OPEN = """
    GET /health, GET /openapi.json, GET /server
    GET /session, POST /session, POST /session/token/login
    GET /session/openid/auth, POST /session/openid/auth, GET /session/openid/callback
    POST /users, POST /users/totp, POST /password/reset, POST /password/update
"""
"""What is meant to be open without a login (docs/decisions/0015), each with rules of its own."""


def test_what_is_open_without_a_login():
    paths = openapi_document()["paths"]
    found = {
        f"{method.upper()} {path}"
        for path, entries in paths.items()
        for method, entry in entries.items()
        if entry.get("security") == []
    }
    assert found == {each.strip() for each in OPEN.replace("\n", ",").split(",") if each.strip()}


def test_it_is_valid_openapi_3_1(document):
    # Here, since each process of a run collects this file.
    from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

    assert [error.message for error in OPENAPI_31_VALIDATOR.iter_errors(document)] == []
    broken = {**document, "paths": {"devices": {}}}
    assert list(OPENAPI_31_VALIDATOR.iter_errors(broken))


def test_every_schema_is_valid_json_schema(document):
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema)
        assert schema["type"] == "object", name


def test_every_field_parameter_and_operation_says_what_it_is(document, operations):
    for name, schema in document["components"]["schemas"].items():
        assert schema["description"], name
        for field, described in schema["properties"].items():
            assert described.get("description"), f"{name}.{field}"
    for name, (_, _, entry) in operations.items():
        assert entry["summary"], name
        for parameter in entry.get("parameters", ()):
            assert parameter["description"], f"{name} {parameter['name']}"
        for content in entry.get("requestBody", {}).get("content", {}).values():
            for field, described in content["schema"].get("properties", {}).items():
                assert described["description"], f"{name} {field}"


def test_no_description_or_example_is_left_of_what_is_gone(document, operations):
    schemas = document["components"]["schemas"]
    fields = [
        (name, field)
        for name, schema in schemas.items()
        for field, described in schema["properties"].items()
        if described.get("description") == COMMON_FIELDS.get(field)
    ]
    # A meaning in one record only belongs below its field.
    for common in COMMON_FIELDS:
        assert len({name.removesuffix("Input") for name, field in fields if field == common}) > 1, common
    shown = {
        (each["name"], each["description"])
        for _, _, entry in operations.values()
        for each in entry.get("parameters", ())
    } | {
        (field, described["description"])
        for _, _, entry in operations.values()
        for content in entry.get("requestBody", {}).get("content", {}).values()
        for field, described in content["schema"].get("properties", {}).items()
        if "description" in described
    }
    assert PARAMETERS.items() <= shown
    assert set(BODIES) <= set(operations)
    assert set(EXAMPLES) <= set(schemas)


def test_answers_have_all_fields_and_bodies_need_only_what_they_must(document):
    schemas = document["components"]["schemas"]
    device, sent = schemas["Device"], schemas["DeviceInput"]
    assert device["required"] == list(device["properties"])
    assert sent["required"] == ["name", "uniqueId"]
    assert sent["properties"]["name"]["maxLength"] == 128
    assert sent["properties"]["groupId"]["type"] == ["integer", "null"]
    # Live fields come out and are ignored where a client sends them back.
    assert not {"status", "lastUpdate", "positionId"} & sent["properties"].keys()
    assert device["properties"]["lastUpdate"] == {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "When it last sent anything.",
    }
    assert schemas["Position"]["properties"]["geofenceIds"]["type"] == ["array", "null"]
    assert schemas["UserInput"]["required"] == ["email"]
    assert "version" not in schemas["ServerInput"]["properties"]
    assert schemas["Geofence"]["properties"]["attributes"]["additionalProperties"] is True


def test_a_body_that_may_be_left_out_is_described_so(operations):
    needed = {
        name: entry["requestBody"]["required"]
        for name, (_, _, entry) in operations.items()
        if "application/json" in entry.get("requestBody", {}).get("content", {})
    }
    assert [name for name, required in needed.items() if not required] == [
        "runScheduledCommand",
        "createTicketDefaults",
    ]


def test_statuses_beyond_the_specifications_are_named_where_they_are_served(operations):
    def statuses(name):
        return set(operations[name][2]["responses"])

    assert {"200", "206", "304", "404", "416"} <= statuses("getMedia")
    assert {"200", "202", "400"} <= statuses("sendCommand")
    assert {"200", "400", "401", "403", "404", "429", "503"} == statuses("getScheduledCommand")
    assert {"200", "401", "403", "404", "429", "503"} == statuses("getDriver")
    assert {"303", "400", "403"} <= statuses("beginOpenid")
    assert {"200", "403"} <= statuses("shareDevice")
    assert {"200", "403", "404"} <= statuses("getSession")
    assert {"200", "500", "503"} <= statuses("findAddress")
    assert {"200", "204", "401"} <= statuses("testComputedAttribute")
    assert {"204", "400", "401", "403", "404", "413", "429", "503"} == statuses("setAccumulators")
    found = {status for _, _, entry in operations.values() for status in entry["responses"]}
    assert not found & {"422", "405"}
    assert [name for name in operations if "409" in statuses(name)] == [
        "prepareBackup",
        "fetchBackup",
        "getTalk",
    ]


def test_refusals_are_plain_text_and_say_when_to_come_back(document):
    responses = document["components"]["responses"]
    assert all(list(response["content"]) == ["text/plain"] for response in responses.values())
    assert [name for name, response in responses.items() if "headers" in response] == [
        "TooManyRequests",
        "ServiceUnavailable",
    ]


@pytest.mark.parametrize("name", sorted(BODIES))
def test_examples_of_bodies_fit_their_schemas_and_are_taken(name, document, operations):
    ((kind, content),) = operations[name][2]["requestBody"]["content"].items()
    schema = {**content["schema"], "components": document["components"]}
    jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(BODIES[name])
    if kind == "application/json":
        snake = re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
        (operation,) = [each for each in OPERATIONS if each.name in {name, snake}]
        decode(json.dumps(BODIES[name]).encode(), operation.body)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_of_answers_fit_their_schemas(name, document):
    schema = {**document["components"]["schemas"][name], "components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    validator.validate(EXAMPLES[name])
    short = dict(EXAMPLES[name])
    del short["attributes"]
    assert not validator.is_valid(short)


async def test_what_the_server_answers_fits_the_schemas_in_every_field(served, document):
    device_id = await served.device(served.admin, "1", expirationTime="2030-01-01T00:00:00Z")
    await served.report(served.position(device_id))
    answered = {
        "/devices": "Device",
        "/users": "User",
        "/server": "Server",
        "/positions": "Position",
        "/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z": "AuditAction",
    }
    for path, name in answered.items():
        answer = (await served.admin.get(path)).json()
        record = answer[0] if isinstance(answer, list) else answer
        schema = {**document["components"]["schemas"][name], "additionalProperties": False}
        schema["components"] = document["components"]
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(record)
