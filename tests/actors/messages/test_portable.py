"""Messages are values: those that may cross to another server are packed and unpacked unchanged.

What holds a ref, media bytes or an open file says so by its base `NodeLocal`, and stays in its process.
"""

import importlib
import pkgutil
import types
import typing
from datetime import UTC

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings
from msgspec import inspect

import motorpool.actors
import motorpool.api
from motorpool.runtime import Kind, NodeLocal, Ref, Request, TopicName

SCALARS = {
    inspect.AnyType: st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=5)),
    inspect.NoneType: st.none(),
    inspect.BoolType: st.booleans(),
    inspect.IntType: st.integers(-(2**63), 2**63 - 1),
    inspect.FloatType: st.floats(allow_nan=False),
    inspect.StrType: st.text(max_size=5),
    inspect.BytesType: st.binary(max_size=5),
    inspect.DateTimeType: st.datetimes(timezones=st.just(UTC)),
}


CROSSING = (
    "ApplyChanges",
    "EndCapture",
    "GetCommandTypes",
    "GetDeviceStatuses",
    "GetLatestPositions",
    "GetPlaybackState",
    "HoldStream",
    "MediaRequested",
    "OutboxFilled",
    "PlaybackCommandCompleted",
    "PlaybackControlSent",
    "PlaybackRequested",
    "ReleaseStream",
    "RunNow",
    "SendCommand",
    "SetAccumulators",
)
"""Sent to the server where the device, stream, capture or schedule is, once there are several."""


def values(kind: inspect.Type) -> st.SearchStrategy:
    """Any value of a type, as msgspec describes it."""
    match kind:
        case inspect.Metadata():
            return values(kind.type)
        case inspect.StructType():
            return st.builds(kind.cls, **{field.name: values(field.type) for field in kind.fields})
        case inspect.UnionType():
            return st.one_of(*map(values, kind.types))
        case inspect.LiteralType():
            return st.sampled_from(sorted(kind.values))
        case inspect.EnumType():
            return st.sampled_from(list(kind.cls))
        case inspect.VarTupleType():
            return st.lists(values(kind.item_type), max_size=3).map(tuple)
        case inspect.TupleType():
            return st.tuples(*map(values, kind.item_types))
        case inspect.ListType():
            return st.lists(values(kind.item_type), max_size=3)
        case inspect.FrozenSetType():
            return st.frozensets(values(kind.item_type), max_size=3)
        case inspect.DictType():
            return st.dictionaries(values(kind.key_type), values(kind.value_type), max_size=3)
        case _:
            return SCALARS[type(kind)]


def modules():
    """All modules that may define messages."""
    for package in (motorpool.actors, motorpool.api):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith(".__main__"):
                yield importlib.import_module(found.name)


def members(annotation):
    """The classes of a union, or the class itself."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return [each for argument in typing.get_args(annotation) for each in members(argument)]
    if origin in (tuple, list):
        return members(typing.get_args(annotation)[0])
    return [annotation]


def messages():
    """Every class that is sent to an actor of any kind or published on any topic."""
    found = {}
    for module in modules():
        for name, annotation in vars(module).get("__annotations__", {}).items():
            if isinstance(vars(module).get(name), Kind | TopicName):
                for each in members(typing.get_args(annotation)[-1]):
                    found[f"{each.__module__}.{each.__qualname__}"] = each
    return {name: each for name, each in found.items() if each is not type(None)}


MESSAGES = messages()
PORTABLE = {name: each for name, each in MESSAGES.items() if not issubclass(each, NodeLocal)}
BY_NAME = {each.__name__: each for each in MESSAGES.values()}


def answers(message):
    """The classes of what a request is answered with."""
    for base in getattr(message, "__orig_bases__", ()):
        if typing.get_origin(base) is Request:
            return members(typing.get_args(base)[0])
    return []


def assert_unpacks_equal(shape, data):
    """Any value of this type is the same after it was packed and unpacked."""
    value = data.draw(values(inspect.type_info(shape)))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=shape) == value


@pytest.mark.parametrize("name", sorted(PORTABLE))
def test_what_may_cross_is_unpacked_as_it_was_packed(name):
    @settings(max_examples=10, database=None)
    @given(st.data())
    def check(data):
        assert_unpacks_equal(PORTABLE[name], data)

    check()


@pytest.mark.parametrize("name", CROSSING)
def test_what_other_servers_will_be_asked_is_no_local_message_and_nor_are_the_answers(name):
    assert not issubclass(BY_NAME[name], NodeLocal)

    @settings(max_examples=10, database=None)
    @given(st.data())
    def check(data):
        for shape in answers(BY_NAME[name]):
            assert_unpacks_equal(shape, data)

    check()


def test_no_message_that_may_cross_refers_to_an_actor():
    def holds_ref(annotation):
        return typing.get_origin(annotation) is Ref or any(map(holds_ref, typing.get_args(annotation)))

    holding = [
        f"{name}.{field}"
        for name, each in PORTABLE.items()
        for field, annotation in typing.get_type_hints(each).items()
        if holds_ref(annotation)
    ]
    assert not holding
