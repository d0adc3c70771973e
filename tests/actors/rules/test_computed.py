"""What computed attributes know of a position, and what they make of it."""

import math
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.computed import (
    CompiledAttribute,
    compute_values,
    convert,
    used_names,
    variables_of,
)
from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.expressions import ExpressionError, TooMuchHere, compile_expression
from motorpool.storage.records import ComputedAttribute, Device, Position

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
POSITION = Position(
    id=7,
    device_id=3,
    protocol="jt808",
    server_time=NOON,
    device_time=NOON,
    fix_time=NOON,
    valid=True,
    latitude=52.5,
    longitude=13.4,
    speed=10.0,
    attributes={"power": 11.5, "input": 6, "fuel": 300, "speed": "a name taken"},
)


def compiled(text, attribute, kind=None, number=1):
    return CompiledAttribute(
        ComputedAttribute(id=number, attribute=attribute, type=kind), compile_expression(text)
    )


def compute_all(attributes, position, last=None, device=None):
    """The position with all the attributes, and those that failed."""
    found = dict(position.attributes)
    used = used_names(name for each in attributes for name in each.expression.names)
    fields, failures = compute_values(attributes, used, found, position, last, device)
    return msgspec.structs.replace(position, attributes=found, **fields), failures


def applied(text: str, attribute: str, kind: str | None = None, position: Position = POSITION, **known):
    found, failures = compute_all([compiled(text, attribute, kind)], position, **known)
    assert not failures
    return found


def test_an_expression_knows_the_fields_and_the_attributes_of_the_position():
    wanted = {
        "id": 7,
        "deviceId": 3,
        "protocol": "jt808",
        "serverTime": NOON,
        "deviceTime": NOON,
        "fixTime": NOON,
        "outdated": False,
        "valid": True,
        "latitude": 52.5,
        "longitude": 13.4,
        "altitude": 0.0,
        "speed": 10.0,
        "course": 0.0,
        "address": None,
        "accuracy": 0.0,
        "network": None,
        "geofenceIds": None,
        "power": 11.5,
        "input": 6,
        "fuel": 300,
    }
    assert (
        variables_of(used_names([*wanted, "attributes", "nothing"]), POSITION.attributes, POSITION) == wanted
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("lastSpeed", 5.0),
        ("lastIgnition", True),
        ("lastX", 1),
        ("lastFixTime", "1970-01-01T00:00:00Z"),
        ("tank", 60),
        ("power", 11.5),
        ("name ?? 'unknown'", "unknown"),
        ("device.secret ?? 'unknown'", "unknown"),
        ("device.colour", "red"),
    ],
)
def test_the_last_position_and_the_device_are_known_where_given(text, wanted):
    last = Position(speed=5.0, attributes={"ignition": True, "x": 1})
    attributes = {"power": 1, "tank": 60, "device.secret": "s", "device.colour": "red"}
    kind = {bool: "Boolean", str: "String"}.get(type(wanted), "Number")
    found = applied(text, "seen", kind, last=last, device=Device(name="Van", attributes=attributes))
    assert found.attributes["seen"] == wanted
    _, failures = compute_all([compiled("lastSpeed", "a"), compiled("tank", "b")], POSITION)
    assert len(failures) == 2


@pytest.mark.parametrize(
    ("text", "attribute", "kind", "wanted"),
    [
        ("power < 12 ? 'lowPower' : null", "alarm", "String", "lowPower"),
        ("(input & 2) != 0", "ignition", "Boolean", True),
        ("fuel * 0.1", "fuel", "Number", 30.0),
        ("fuel / 7", "fuelSeventh", "number", 42),
        ("power * 2", "shown", "string", "23.0"),
        ("valid", "shown", None, "true"),
        ("fixTime", "shown", None, "2026-05-01T12:00:00Z"),
        ("[1, 2]", "shown", "String", "[1, 2]"),
    ],
)
def test_values_are_kept_under_the_attributes_name(text, attribute, kind, wanted):
    found = applied(text, attribute, kind)
    assert found.attributes[attribute] == wanted
    assert type(found.attributes[attribute]) is type(wanted)
    assert POSITION.attributes == {"power": 11.5, "input": 6, "fuel": 300, "speed": "a name taken"}


def test_null_removes_an_attribute():
    assert applied("null", "fuel").attributes == {"power": 11.5, "input": 6, "speed": "a name taken"}
    assert applied("null", "nothing").attributes == POSITION.attributes


@pytest.mark.parametrize(
    ("text", "attribute", "field", "wanted"),
    [
        ("false", "valid", "valid", False),
        ("speed + 2", "speed", "speed", 12.0),
        ("5", "altitude", "altitude", 5.0),
        ("-latitude", "latitude", "latitude", -52.5),
        ("180", "longitude", "longitude", 180.0),
        ("359", "course", "course", 359.0),
        ("1", "accuracy", "accuracy", 1.0),
        ("'Depot ' + deviceId", "address", "address", "Depot 3"),
    ],
)
def test_names_of_fields_overwrite_the_field_whatever_the_type(text, attribute, field, wanted):
    found = applied(text, attribute, "String")
    assert getattr(found, field) == wanted
    assert type(getattr(found, field)) is type(wanted)
    assert found.attributes == POSITION.attributes


def test_null_leaves_a_field_as_it_was():
    assert applied("null", "speed") == POSITION


def test_later_ones_see_what_earlier_ones_computed():
    first = applied("fuel * 2", "double", "Number")
    assert applied("double + 1", "more", "Number", first).attributes["more"] == 601


def test_the_last_position_and_the_device_reach_the_expression():
    last, device = Position(attributes={"fuel": 290}), Device(attributes={"tank": 60})
    found = applied("fuel - lastFuel + tank", "sum", "Number", last=last, device=device)
    assert found.attributes["sum"] == 70


@pytest.mark.parametrize(
    ("text", "attribute", "kind"),
    [
        ("'12'", "shown", "Number"),
        ("true", "shown", "Number"),
        ("1", "shown", "Boolean"),
        ("'true'", "shown", "Boolean"),
        ("NaN", "shown", "Number"),
        ("math:pow(10, 400)", "shown", "Number"),
        ("'fast'", "speed", "String"),
        ("1", "valid", "Boolean"),
        ("91", "latitude", "Number"),
        ("-180.5", "longitude", "Number"),
        ("NaN", "latitude", "Number"),
        ("nowhere", "shown", None),
    ],
)
def test_what_does_not_fit_is_an_error(text, attribute, kind):
    found, failures = compute_all([compiled(text, attribute, kind, 9)], POSITION)
    assert found == POSITION
    ((number, reason),) = failures
    assert number == 9
    assert reason


def test_types_are_read_whatever_their_case():
    assert convert(ComputedAttribute(attribute="level", type="nUMBER"), 3) == 3
    for value in (math.inf, math.nan, 10**400, -(10**400)):
        with pytest.raises(ExpressionError, match="the value is not a finite number"):
            convert(ComputedAttribute(attribute="level", type="nUMBER"), value)


def test_a_failed_one_leaves_the_others_alone():
    found, failures = compute_all(
        [
            compiled("power + 1", "first", "Number", 1),
            compiled("nowhere", "second", "Number", 2),
            compiled("first + 1", "third", "Number", 3),
        ],
        POSITION,
    )
    assert found.attributes["first"] == 12.5
    assert found.attributes["third"] == 13.5
    assert "second" not in found.attributes
    assert [number for number, _ in failures] == [2]


def test_what_is_removed_shows_the_value_of_the_device_again():
    device = Device(attributes={"fuel": 1})
    found, _ = compute_all(
        [compiled("null", "fuel"), compiled("fuel", "seen", "Number")], POSITION, device=device
    )
    assert found.attributes["seen"] == 1


NAMES = ["a", "b", "speed", "altitude", "protocol", "lastA", "lastSpeed", "Speed"]
attributes = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 9), max_size=5)
sequences = st.lists(
    st.tuples(
        st.sampled_from([*NAMES, "null", "a + 1", "lastA ?? b", "lastAltitude", "a.b ?? 7", "speed * 2"]),
        st.sampled_from(NAMES),
        st.sampled_from(["Number", "String"]),
    ),
    max_size=6,
)


def one_by_one(steps, position, last, device):
    """Each expression gets all the names anew; the position is replaced after each."""
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(Position)}
    del fields["attributes"]
    for text, attribute, kind in steps:
        known = dict(device.attributes) if device else {}
        for of in [last] if last else []:
            held = {**{f"last{k[0].upper()}{k[1:]}": v for k, v in of.attributes.items()}}
            held |= {f"last{k[0].upper()}{k[1:]}": getattr(of, name) for k, name in fields.items()}
            known |= held
        known |= position.attributes
        known |= {k: getattr(position, name) for k, name in fields.items()}
        try:
            value = convert(
                ComputedAttribute(attribute=attribute, type=kind), compile_expression(text).evaluate(known)
            )
        except ExpressionError:
            continue
        if attribute in {"speed", "altitude"}:
            if value is not None:
                position = msgspec.structs.replace(position, **{attribute: float(value)})
            continue
        kept = {k: v for k, v in position.attributes.items() if k != attribute}
        if value is not None:
            kept[attribute] = value
        position = msgspec.structs.replace(position, attributes=kept)
    return position


@given(sequences, attributes, st.none() | attributes, st.none() | attributes)
def test_computing_all_equals_computing_one_by_one(steps, sent, before, of_device):
    position = Position(protocol="x", speed=3.0, altitude=5.0, attributes=sent)
    last = None if before is None else Position(protocol="y", speed=1.0, attributes=before)
    device = None if of_device is None else Device(attributes=of_device)
    found, _ = compute_all([compiled(*step) for step in steps], position, last, device)
    assert found == one_by_one(steps, position, last, device)
    assert position.attributes == sent


def test_a_value_that_is_nested_too_deep_for_a_text_fails():
    deep = []
    for _ in range(5000):
        deep = [deep]
    position = msgspec.structs.replace(POSITION, attributes={"list": deep, "fuel": 300})
    found, failures = compute_all([compiled("list", "a"), compiled("fuel + 1", "b", "number", 2)], position)
    assert failures == ((1, "the values are nested too deep"),)
    assert found.attributes["b"] == 301


@pytest.mark.parametrize("work_here", [0, 1, 2, 3, 1500, 10**6, None])
def test_what_all_expressions_take_at_least_is_counted_before_them(work_here):
    attributes = tuple(compiled(f"fuel + {number}", f"a{number}", "number", number) for number in range(3))
    rules = DeviceRules(computed=attributes)
    found = {"fuel": 300}
    least = sum(each.expression.work for each in attributes)
    assert rules.computed_names.work == least
    if work_here is not None and work_here < least:
        with pytest.raises(TooMuchHere):
            compute_values(attributes, rules.computed_names, found, POSITION, work_here=work_here)
    else:
        compute_values(attributes, rules.computed_names, found, POSITION, work_here=work_here)
        assert found["a2"] == 302
