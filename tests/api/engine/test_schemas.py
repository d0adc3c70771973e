from datetime import datetime
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import inspect

from motorpool.api.engine.descriptions import describe_record
from motorpool.api.engine.operations import BodyRules
from motorpool.api.engine.schemas import Schemas


class Driver(msgspec.Struct, rename="camel"):
    """Somebody who drives (docs/http-api.md#drivers-orders-and-maintenance).

    More of him.
    """

    id: int = 0
    name: str = ""
    unique_id: str | None = None
    """Unique; null: none."""
    attributes: dict[str, Any] = {}


class Courier(Driver):
    """A driver who delivers."""

    bag: int = 0
    """Litres,
    rounded down."""
    name: str = ""
    """Of the firm."""


def parameter(shape):
    class Query(msgspec.Struct):
        wanted: shape

    return Schemas(()).of_parameter(inspect.type_info(Query).fields[0])


def test_an_answer_has_every_field_and_a_body_only_what_is_needed():
    schemas = Schemas([list[Driver]])
    rules = BodyRules(required=("name",), max_lengths={"name": 128, "unique_id": 4000}, ignored=("id",))
    assert schemas.of_answer(list[Driver]) == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Driver"},
    }
    assert schemas.of_body(Driver, rules) == {"$ref": "#/components/schemas/DriverInput"}
    answered, sent = schemas.components["Driver"], schemas.components["DriverInput"]
    assert answered["required"] == ["id", "name", "uniqueId", "attributes"]
    assert answered["properties"]["name"] == {"type": "string", "description": "What people call it."}
    assert answered["properties"]["id"]["type"] == "integer"
    assert sent["required"] == ["name"]
    assert list(sent["properties"]) == ["name", "uniqueId", "attributes"]
    told = {"pattern": r"\S", "maxLength": 128, "description": "What people call it."}
    assert sent["properties"]["name"] == {"type": "string", **told}
    assert sent["properties"]["uniqueId"]["type"] == ["string", "null"]
    assert sent["properties"]["uniqueId"]["maxLength"] == 4000
    assert sent["properties"]["attributes"]["type"] == ["object", "null"]


def test_a_body_that_is_never_answered_keeps_its_name():
    schemas = Schemas(())
    assert schemas.of_body(Driver) == {"$ref": "#/components/schemas/Driver"}
    assert "required" not in schemas.components["Driver"]


def test_a_record_is_described_without_our_own_pages():
    assert describe_record(Driver) == "Somebody who drives."


def test_a_field_is_described_by_the_text_below_it_and_else_as_in_all_records():
    schemas = Schemas([Courier, Driver])
    described = {
        name: {field: each["description"] for field, each in schema["properties"].items()}
        for name, schema in schemas.components.items()
    }
    assert described["Driver"]["uniqueId"] == described["Courier"]["uniqueId"] == "Unique; null: none."
    assert described["Driver"]["name"] == "What people call it."
    assert described["Courier"]["name"] == "Of the firm."
    assert described["Courier"]["bag"] == "Litres, rounded down."


def test_a_field_without_a_description_stops_the_start():
    class Passenger(msgspec.Struct):
        """Somebody who is driven."""

        luggage: int

    with pytest.raises(KeyError, match="luggage"):
        Schemas([Passenger])


def test_null_becomes_a_second_type_or_a_second_schema():
    schemas = Schemas(())
    assert schemas.of_answer(int | None)["type"] == ["integer", "null"]
    assert schemas.of_answer(datetime | None) == {"type": ["string", "null"], "format": "date-time"}
    assert schemas.of_answer(Driver | None) == {
        "anyOf": [{"$ref": "#/components/schemas/Driver"}, {"type": "null"}]
    }
    assert {each["type"] for each in schemas.of_answer(float | bool)["anyOf"]} == {"boolean", "number"}
    assert schemas.of_answer(Any) == {}


def test_bounds_and_words_of_annotations_are_kept():
    bounded = Annotated[float, msgspec.Meta(ge=-90, lt=90, description="Degrees.")]
    assert Schemas(()).of_answer(bounded) == {
        "type": "number",
        "format": "double",
        "minimum": -90,
        "exclusiveMaximum": 90,
        "description": "Degrees.",
    }
    assert Schemas(()).of_answer(Annotated[str, msgspec.Meta(min_length=1, max_length=5)]) == {
        "type": "string",
        "minLength": 1,
        "maxLength": 5,
    }
    pair = Annotated[dict[str, int], msgspec.Meta(min_length=2, max_length=2)]
    assert Schemas(()).of_answer(pair) == {
        "type": "object",
        "additionalProperties": {"type": "integer", "format": "int64"},
        "minProperties": 2,
        "maxProperties": 2,
    }


def test_a_parameter_is_left_out_and_never_null():
    assert parameter(int | None) == {"type": "integer", "format": "int64"}
    told = Annotated[int, msgspec.Meta(description="Which.")] | None
    assert parameter(told) == {"type": "integer", "format": "int64", "description": "Which."}
    assert parameter(tuple[str, ...]) == {"type": "array", "items": {"type": "string"}}


def test_a_type_without_a_schema_stops_the_start_and_no_request():
    with pytest.raises(TypeError, match="no JSON Schema is known"):
        Schemas([bytes])
