"""Every language has every word, or English says that it lacks it."""

import pytest

from motorpool.actors.reports.columns import REPORTS, SCHEDULED
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.words import catalog
from motorpool.actors.words.catalog import FALLBACK, catalog_of, languages, read_catalog, read_content
from motorpool.codecs.devices.attributes import (
    ALARM_DETAILS,
    ALARMS,
    ATTRIBUTES,
    HIDDEN,
    NUMBERED,
    OF_PROTOCOLS,
)

ENGLISH = read_content(FALLBACK)
UNTRANSLATED = set(ENGLISH["untranslated"])
SECTIONS = ("labels", "texts", "subjects", "names", "states", "alarms", "details", "attributes")
OTHERS = [language for language in languages() if language != FALLBACK]


def test_there_are_six_languages_and_that_of_brazil():
    assert languages() == ("de", "en", "es", "fr", "pt", "pt-BR", "zh")
    assert catalog_of("xx") is read_catalog(FALLBACK)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_all_words_but_those_that_are_listed(language):
    content = read_content(language)
    for section in SECTIONS:
        assert ENGLISH[section].keys() - content[section].keys() <= UNTRANSLATED, section
        assert content[section].keys() <= ENGLISH[section].keys(), section
    assert content["mails"].keys() == ENGLISH["mails"].keys()
    for key, words in ENGLISH["values"].items():
        assert content["values"][key].keys() == words.keys(), key
    assert content["values"].keys() == ENGLISH["values"].keys()


@pytest.mark.parametrize("language", languages())
def test_words_are_texts_of_one_line_with_the_places_of_english(language):
    content = read_content(language)
    for section in ("names", "states", "alarms", "details", "attributes"):
        for key, text in content[section].items():
            assert text.strip() == text, key
            assert text.isprintable(), key
            assert text.count("#") == ENGLISH[section][key].count("#") == key.count("#"), key
    assert content["labels"]["level"].format(alarm="a", level=1) != "a1"


def test_each_thing_that_is_listed_lacks_somewhere():
    """The list does not outlive what it was made for."""
    lacking = {
        key
        for language in OTHERS
        for section in SECTIONS
        for key in ENGLISH[section].keys() - read_content(language)[section].keys()
    }
    lacking |= {
        heading for language in OTHERS for heading in headings() - read_content(language)["headings"].keys()
    }
    assert lacking == UNTRANSLATED


def headings():
    columns = {column.title for report in REPORTS.values() for column in report.columns}
    # The mails of calendars name a report as a workbook does.
    titles = {report.title for report in REPORTS.values()} | {name.capitalize() for name in SCHEDULED}
    return columns | titles | {"Report", "Device", "Group", "Period"}


@pytest.mark.parametrize("language", OTHERS)
def test_workbooks_have_their_headings_in_each_language(language):
    assert headings() - read_content(language)["headings"].keys() <= UNTRANSLATED
    assert read_content(language)["headings"].keys() <= headings()


def test_english_has_a_word_for_all_that_is_in_the_tables():
    assert ENGLISH["alarms"].keys() == ALARMS
    assert ENGLISH["details"].keys() == ALARM_DETAILS.keys()
    assert ENGLISH["attributes"].keys() == (ATTRIBUTES.keys() | NUMBERED.keys()) - HIDDEN
    assert ENGLISH["values"].keys() <= ATTRIBUTES.keys() | NUMBERED.keys() | OF_PROTOCOLS.keys()
    assert set(EVENT_TYPES) <= ENGLISH["texts"].keys()
    assert set(EVENT_TYPES) <= ENGLISH["names"].keys()
    names = list(ENGLISH["attributes"].values())
    for name in names:
        assert name[0].isupper() or name[0] == "#", name


def test_that_of_a_country_has_what_differs_and_takes_the_rest_from_its_base(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    files = {
        "below": 'time = "a"\n[labels]\nyes = "ja"\nno = "nein"',
        "above": 'base = "below"\n[labels]\nyes = "jo"',
    }
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text, "utf-8")
    assert read_content("above") == {"time": "a", "labels": {"yes": "jo", "no": "nein"}}


def test_what_a_language_lacks_is_english(monkeypatch):
    german = read_catalog("de")
    assert german.headings["Trips"] == "Fahrten"
    assert german.details.keys() == read_catalog(FALLBACK).details.keys()
