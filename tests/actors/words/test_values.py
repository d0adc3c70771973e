"""Values in words, in the language, the units and the zone of a reader.

`attributeCases.json` has the cases that the console passes as well
(`api/console/src/format/attributes.test.ts`).
"""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.words.preferences import preferences_of
from motorpool.actors.words.values import ValueWriter, capitalized
from motorpool.codecs.devices.attributes import ATTRIBUTES, NUMBERED, OF_PROTOCOLS

SHARED = Path(__file__).parents[3] / "api" / "console" / "src" / "format" / "attributeCases.json"
CASES = json.loads(SHARED.read_text("utf-8"))
WRITER = ValueWriter(preferences_of(CASES["preferences"], {}))
KEYS = sorted({*ATTRIBUTES, *(key.replace("#", "7") for key in NUMBERED), "odd", "x y"})


def writer(**attributes):
    return ValueWriter(preferences_of(attributes, {}))


@pytest.mark.parametrize(("key", "name"), CASES["names"])
def test_attributes_have_names(key, name):
    assert WRITER.attribute_name(key) == name


@pytest.mark.parametrize(("key", "value", "protocol", "text"), CASES["values"])
def test_values_are_in_words_and_units(key, value, protocol, text):
    assert WRITER.attribute_text(key, value, protocol) == text


@pytest.mark.parametrize(("key", "value", "text"), CASES["ofCameras"])
def test_cameras_have_their_names(key, value, text):
    assert WRITER.attribute_text(key, value, "", CASES["cameras"]) == text


@pytest.mark.parametrize(("attributes", "text"), CASES["alarms"])
def test_alarms_say_what_they_are_exactly(attributes, text):
    assert WRITER.alarm(*attributes) == text


def test_units_and_decimals_are_the_readers():
    american = writer(speedUnit="mph", distanceUnit="mi", altitudeUnit="ft", volumeUnit="usGal")
    assert american.attribute_text("obdSpeed", 100) == "62 mph"
    assert american.attribute_text("odometer", 16_093.44) == "10.0 mi"
    assert american.attribute_text("verticalAccuracy", 3.048) == "10 ft"
    assert american.attribute_text("fuelConsumption", 3.785411784) == "1.0 US gal/h"
    german = writer(language="de", timezone="Europe/Berlin")
    assert german.attribute_name("tire3Pressure") == "Reifen 3, Druck"
    assert german.attribute_text("tire3Pressure", 8.2) == "8,2 bar"
    assert german.attribute_text("tripStart", "2026-05-01T10:00:00+00:00") == "01.05.2026 12:00:00"
    assert german.attribute_text("tripStart", "yesterday") == "yesterday"
    assert german.alarm("general", "phoneUse:1") == "Telefon in der Hand, Stufe 1"


@pytest.mark.parametrize("word", ["driving", "idling", "parked", "stationary", "automotive", "cycling"])
def test_what_phones_and_computed_attributes_call_an_activity_is_in_all_languages(word):
    texts = {
        language: writer(language=language).attribute_text("activity", word)
        for language in ("de", "es", "fr", "pt", "zh")
    }
    assert word not in texts.values()
    assert writer(language="en").attribute_text("activity", word)[0].isalpha()


def test_what_alarms_say_is_not_said_again():
    attributes = {
        "ignition": True,
        "alarm": "sos,general",
        "alarmDetail": "phoneUse:1",
        "alarmLabel": "00",
        "raw": "7e",
        "dmsAlarm": 2,
        "dmsLevel": 1,
    }
    assert list(WRITER.attributes(attributes, "jt808")) == [
        ("Alarm", "Emergency button; phone in hand, level 1"),
        ("Ignition", "on"),
    ]
    # The end of an alarm raises none.
    assert list(WRITER.attributes({"dmsAlarm": 2, "dmsLevel": 1}, "jt808")) == [
        ("Driver monitoring", "phone in hand"),
        ("Driver monitoring, level", "1"),
    ]


@given(
    key=st.sampled_from(KEYS),
    value=st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=9),
        st.lists(st.integers(), max_size=2),
        st.just(10**400),
    ),
    protocol=st.sampled_from(["", *{name.partition(".")[0] for name in OF_PROTOCOLS}]),
)
def test_any_value_is_written(key, value, protocol):
    assert isinstance(WRITER.attribute_text(key, value, protocol), str)
    if isinstance(value, float) and math.isfinite(value) and value:
        assert WRITER.attribute_text(key, value, protocol)


def test_a_text_that_stands_alone_has_a_capital():
    assert [capitalized(text) for text in ("phone in hand", "SOS", "", "接打")] == [
        "Phone in hand",
        "SOS",
        "",
        "接打",
    ]
