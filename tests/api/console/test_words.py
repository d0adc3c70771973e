"""The server's words in the console."""

import json
import re

import pytest

from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.api.configuration.keys import sentences
from motorpool.api.configuration.live import changeable
from motorpool.api.console.build import LANGUAGES, WRITTEN
from motorpool.api.console.words import WRITERS
from motorpool.codecs.devices.attributes import (
    ALARM_DETAILS,
    ALARMS,
    ATTRIBUTES,
    HIDDEN,
    NUMBERED,
    OF_PROTOCOLS,
)


def constants(module):
    return {name: json.loads(value) for name, value in re.findall(r"const (\w+) = (.*) as const;", module)}


def written(kind, *arguments):
    return constants(WRITERS[kind](*arguments))


KINDS = written("kinds")
TABLE = written("attributes")
NAMES = {language: written("names", language)["names"] for language in LANGUAGES}
VALUES = {language: written("values", language)["values"] for language in LANGUAGES}


def test_each_language_of_the_console_is_written():
    assert {"en", "pt"} <= set(LANGUAGES)
    made = {tuple(arguments) for module, *arguments in WRITTEN.values() if module == "words"}
    texts = {(kind, language) for kind in ("names", "values") for language in LANGUAGES}
    assert made == {("kinds",), ("attributes",), ("meanings",), *texts}
    assert {kind for kind, *_ in made} == WRITERS.keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_type_of_event_alarm_and_attribute_is_named(language):
    names, values = NAMES[language], VALUES[language]
    assert sorted(KINDS["EVENT_TYPES"]) == sorted(EVENT_TYPES)
    assert sorted(KINDS["ALARMS"]) == sorted(ALARMS)
    assert {f"event.type.{name}" for name in EVENT_TYPES} <= names.keys()
    assert {f"alarm.{name}" for name in ALARMS} <= names.keys()
    assert {f"alarm.{name}" for name in ALARM_DETAILS} <= values.keys()
    keys = (ATTRIBUTES.keys() | NUMBERED.keys()) - HIDDEN
    assert {f"value.{key}" for key in keys} <= values.keys()
    assert names.keys() == NAMES["en"].keys()
    assert values.keys() == VALUES["en"].keys()
    assert not names.keys() & values.keys()


def test_words_are_those_of_the_catalogs():
    assert NAMES["en"]["event.type.deviceOverspeed"] == "Too fast"
    assert NAMES["pt"]["event.type.deviceOverspeed"] == "Excesso de velocidade"
    assert VALUES["pt"]["alarm.phoneUse"] == "telemóvel na mão"
    assert VALUES["pt-BR"]["alarm.phoneUse"] == "celular na mão"
    assert VALUES["pt-BR"]["alarm.smoking"] == "fumando"
    assert VALUES["en"]["word.dmsAlarm.2"] == "phone in hand"
    assert VALUES["en"]["word.jt808.status.1"] == "positioned"


def test_every_setting_of_the_page_has_what_it_means_and_its_unit():
    meanings = written("meanings")["meanings"]
    found = {f"meaning.{section}.{name}" for section, name in changeable()}
    units = {f"unit.{key.unit}" for key in changeable().values() if key.unit not in {"", "s", "m"}}
    assert meanings.keys() == found | units
    assert meanings["meaning.mail.host"] == sentences()["mail", "host"]


def test_the_table_has_the_measure_of_every_attribute_once():
    measures = {key: (unit, decimals) for unit, decimals, keys in TABLE["MEASURES"] for key in keys.split()}
    known = {**ATTRIBUTES, **NUMBERED, **OF_PROTOCOLS}
    assert measures == {key: (each.unit, each.decimals) for key, each in known.items()}
    assert sum(len(keys.split()) for _, _, keys in TABLE["MEASURES"]) == len(known)
    assert TABLE["BITS"]["videoAlarm"] is True
    assert TABLE["BITS"]["input"] is False
