import pytest

from motorpool.api.app import openapi_document
from motorpool.api.console.api_types import write_types


def document(**schemas):
    return {"components": {"schemas": schemas}, "paths": {}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date-time"}, "string"),
        ({"type": ["integer", "null"], "minimum": 0}, "number | null"),
        ({"type": "array", "items": {"type": "number"}}, "readonly number[]"),
        ({"type": "array", "items": {"type": ["number", "null"]}}, "readonly (number | null)[]"),
        ({"type": "array", "items": {"type": "array"}}, "readonly (readonly unknown[])[]"),
        ({"type": ["string", "null"], "enum": ["end", "start"]}, '"end" | "start" | null'),
        ({"anyOf": [{"$ref": "#/components/schemas/Other"}, {"type": "boolean"}]}, "Other | boolean"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{ [name: string]: number }"),
        ({"type": "object", "additionalProperties": True}, "{ [name: string]: unknown }"),
        ({"description": "Anything."}, "unknown"),
    ],
)
def test_each_kind_of_schema_has_its_type(schema, expected):
    written = write_types(document(Thing={"properties": {"field": schema}, "required": ["field"]}))
    assert f"  field: {expected};\n" in written


def test_a_field_that_may_be_absent_is_optional_and_descriptions_are_comments():
    written = write_types(
        document(Thing={"properties": {"a": {"type": "string", "description": "One */ two."}}})
    )
    assert "  /** One * / two. */\n  a?: string;\n" in written


def test_a_word_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="oneOf"):
        write_types(document(Thing={"properties": {"field": {"oneOf": []}}}))


def test_the_document_of_today_has_types_for_answers_bodies_queries_and_paths():
    written = write_types(openapi_document())
    assert "export interface Device {" in written
    answers, bodies, queries, paths = (
        written.index(f"export interface {name} ") for name in ("Answers", "Bodies", "Queries", "Paths")
    )
    assert answers < written.index("  listDevices: readonly Device[];\n", answers) < bodies
    assert bodies < written.index("  createDevice: DeviceInput;\n", bodies) < queries
    assert queries < written.index("  listDevices: {\n    all?: boolean;\n", queries) < paths
    assert '  updateDevice: "PUT /devices/{id}";\n' in written[paths:]
