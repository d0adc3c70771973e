"""What is wrong with a command before anything is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.devices.command_validation import (
    CHANNEL_COMMANDS,
    LIST_COMMAND,
    command_types,
    fill_placeholders,
    refusal,
    text_refusal,
)
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.codec import Jt808

NO_CAMERA = "attributes.channel: cameras have the numbers 1 to 31"


def said(kind, attributes=None, *, codec=Jt808):
    return refusal(kind, attributes or {}, codec=codec)


def test_a_command_that_the_protocol_knows_may_go_out():
    assert Jt808.commands
    for kind in Jt808.commands:
        assert said(kind) == ""


@pytest.mark.parametrize("codec", list(CODECS.values()), ids=list(CODECS))
def test_one_that_the_protocol_does_not_know_is_refused(codec):
    assert said("makeCoffee", codec=codec) == f"{codec.name} devices do not know the command makeCoffee"


def test_while_the_protocol_is_unknown_only_custom_commands_are_accepted():
    assert said("custom", codec=None) == ""
    for kind in ("makeCoffee", *sorted(Jt808.commands - {"custom"})):
        assert said(kind, codec=None) == (
            "the protocol of the device is not known yet: only custom commands can be sent to it"
        )


def test_the_types_that_are_listed_are_those_that_are_accepted():
    for codec in (None, *CODECS.values()):
        every = {"makeCoffee", "custom"}.union(*(each.commands for each in CODECS.values()))
        accepted = {kind for kind in every if said(kind, codec=codec) == ""}
        assert accepted == command_types(codec)


@pytest.mark.parametrize(
    ("kind", "attributes", "filled"),
    [
        ("custom", {"data": "a{uniqueId}b{uniqueId}"}, {"data": "aX1bX1"}),
        (
            "custom",
            {"data": "{uniqueid}", "other": "{uniqueId}"},
            {"data": "{uniqueid}", "other": "{uniqueId}"},
        ),
        ("custom", {"data": 5}, {"data": 5}),
        ("custom", {}, {}),
        ("message", {"data": "{uniqueId}"}, {"data": "{uniqueId}"}),
    ],
)
def test_the_unique_id_is_filled_into_the_data_of_custom_commands(kind, attributes, filled):
    before = dict(attributes)
    assert fill_placeholders(kind, attributes, "X1") == filled
    assert attributes == before


@pytest.mark.parametrize(
    ("kind", "attributes", "reason"),
    [
        ("custom", {"data": "reset"}, ""),
        ("positionSingle", {"data": "reset"}, "only custom commands can be sent as text messages"),
        *(
            ("custom", attributes, "attributes.data: the text of the message is needed")
            for attributes in ({}, {"data": " "}, {"data": 5}, {"data": None})
        ),
    ],
)
def test_a_text_message_has_a_text(kind, attributes, reason):
    assert text_refusal(kind, attributes) == reason


@pytest.mark.parametrize("name", ["channel", "index"])
@pytest.mark.parametrize("kind", sorted(CHANNEL_COMMANDS | {LIST_COMMAND}))
def test_cameras_have_the_numbers_1_to_31(kind, name):
    for codec in [each for each in CODECS.values() if kind in each.commands]:
        refused = {number for number in range(-3, 300) if said(kind, {name: number}, codec=codec)}
        # The list may be asked for of all channels at once.
        assert refused == set(range(-3, 300)) - set(range(0 if kind == LIST_COMMAND else 1, 32))
        assert said(kind, {name: str(max(refused))}, codec=codec) == NO_CAMERA
        assert said(kind, {name: "7"}, codec=codec) == ""


@pytest.mark.parametrize("channel", [True, False, 1.0, 2.5, "", "one", "1.0", "-1", "²", [1], {}, "9" * 5000])
def test_what_is_no_whole_number_is_no_camera(channel):
    assert said("videoStart", {"channel": channel}) == NO_CAMERA


def test_a_channel_goes_before_an_index_and_neither_is_needed():
    assert said("videoStart", {"channel": 1, "index": 99}) == ""
    assert said("videoStart", {"channel": 99, "index": 1}) == NO_CAMERA
    assert said("videoStart", {"channel": None, "index": 99}) == ""
    assert said("videoStart", {}) == ""


def test_commands_without_cameras_may_say_channel_as_they_like():
    assert said("positionSingle", {"channel": 99}) == ""


@given(
    kind=st.sampled_from([*sorted(Jt808.commands), "makeCoffee"]),
    attributes=st.dictionaries(
        st.sampled_from(["channel", "index", "data"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.integers()),
    ),
    codec=st.sampled_from([Jt808, None]),
)
def test_whatever_a_body_holds_the_answer_is_a_sentence_or_nothing(kind, attributes, codec):
    reason = said(kind, attributes, codec=codec)
    assert isinstance(reason, str)
    assert isinstance(text_refusal(kind, attributes), str)
