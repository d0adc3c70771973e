from quart import Response

from motorpool.api.engine.openapi import describe
from motorpool.api.engine.operations import Operations


def test_a_declaration_says_how_it_is_routed_and_described():
    operations = Operations("things")

    @operations.operation("GET", "/things/{id}/{name:text}/{index}.ts", answer=list[int])
    async def get_thing(call) -> Response:
        """Fetch a thing.

        More about it.
        """

    (declared,) = operations
    assert declared.rule == "/api/things/<int:id>/<name>/<int:index>.ts"
    assert declared.plain_path == "/things/{id}/{name}/{index}.ts"
    assert declared.path_parameters == (("id", int), ("name", str), ("index", int))
    assert (declared.name, declared.summary, declared.tag) == ("get_thing", "Fetch a thing", "things")
    assert declared.answers[200].shape == list[int]
    assert not declared.public


def test_a_path_may_end_in_all_that_follows_and_a_body_may_be_plain_bytes():
    operations = Operations("things")

    @operations.operation("POST", "/things/file/{path:path}", raw_media_types=("image/png", "*/*"))
    async def put_thing(call) -> Response:
        """Keep a thing."""

    (declared,) = operations
    assert declared.rule == "/api/things/file/<path:path>"
    assert declared.plain_path == "/things/file/{path}"
    assert declared.path_parameters == (("path", str),)
    described = describe(operations, version="1")["paths"]["/things/file/{path}"]["post"]
    content = {"schema": {"type": "string", "format": "binary"}}
    assert described["requestBody"] == {"required": True, "content": {"image/png": content, "*/*": content}}
    assert {"400", "401", "404", "413"} <= set(described["responses"])
