import json
import re

import pytest

from motorpool.api.engine.openapi import describe
from motorpool.api.resources import OPERATIONS

OPEN = {
    ("get", "/session"),
    ("post", "/session"),
    ("get", "/server"),
    ("get", "/health"),
    ("post", "/users"),
    ("post", "/users/totp"),
    ("get", "/session/openid/auth"),
    ("get", "/session/openid/callback"),
    ("post", "/session/openid/auth"),
    ("post", "/session/token/login"),
    ("post", "/password/reset"),
    ("post", "/password/update"),
}
"""What the specification and docs/authentication.md#credentials name as open, as far as it is served by
now.
"""


@pytest.fixture(scope="module")
def document():
    return describe(OPERATIONS, version="1.2.3")


def test_it_is_json_of_openapi_3_1_with_our_version(document):
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"] == "1.2.3"
    assert json.loads(json.dumps(document)) == document


def test_operation_names_are_unique_and_every_operation_says_what_it_does(document):
    operations = [entry for path in document["paths"].values() for entry in path.values()]
    assert len({entry["operationId"] for entry in operations}) == len(operations)
    assert all(entry["summary"] for entry in operations)


def test_every_reference_leads_somewhere(document):
    def references(value):
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            for inner in value.values():
                yield from references(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from references(inner)

    found = set(references(document))
    assert {"#/components/schemas/Device", "#/components/responses/NotFound"} <= found
    for reference in found:
        root, components, kind, name = reference.split("/")
        assert (root, components) == ("#", "components")
        assert name in document["components"][kind]


def test_only_what_the_specification_names_is_open(document):
    opened = {
        (method, path)
        for path, entries in document["paths"].items()
        for method, entry in entries.items()
        if entry.get("security") == []
    }
    assert opened == OPEN
    assert document["security"]


def test_paths_name_their_parameters(document):
    for path, entries in document["paths"].items():
        named = set(re.findall(r"{(\w+)}", path))
        for entry in entries.values():
            declared = {item["name"] for item in entry.get("parameters", ()) if item["in"] == "path"}
            assert declared == named, path


def test_a_list_describes_its_parameters_and_answers(document):
    listing = document["paths"]["/devices"]["get"]
    parameters = {item["name"]: item for item in listing["parameters"]}
    assert set(parameters) == {
        "all",
        "userId",
        "deviceId",
        "keyword",
        "limit",
        "offset",
        "excludeAttributes",
        "refresh",
        "id",
        "uniqueId",
    }
    assert parameters["limit"]["schema"]["type"] == "integer"
    assert parameters["id"]["schema"]["type"] == "array"
    assert not any(item["required"] for item in listing["parameters"])
    assert set(listing["responses"]) == {"200", "400", "401", "403", "429", "503"}
    answer = listing["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"type": "array", "items": {"$ref": "#/components/schemas/Device"}}


def test_a_form_and_both_answers_of_a_command_are_described(document):
    form = document["paths"]["/session"]["post"]["requestBody"]["content"][
        "application/x-www-form-urlencoded"
    ]
    assert form["schema"]["required"] == ["email", "password"]
    send = document["paths"]["/commands/send"]["post"]
    assert {"200", "202", "400", "413"} <= set(send["responses"])


def test_passwords_are_taken_and_their_absence_is_described(document):
    user = document["components"]["schemas"]["User"]["properties"]
    assert "password" in user
    assert "passwordHash" not in user


async def test_the_server_serves_it_to_anybody(served):
    answer = await served.client().get("/openapi.json")
    assert answer.status == 200
    assert "/openapi.json" in answer.json()["paths"]
