"""Own words of notifications: what is refused, and what is said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.deliveries.notice import EventFacts
from motorpool.actors.events import own_words
from motorpool.actors.events.examples import example_facts
from motorpool.actors.events.own_words import PLACEHOLDERS, STANDARD, OwnWords, own_words_of, problem_of
from motorpool.actors.events.rendering import Reader, render
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.words.catalog import languages
from motorpool.actors.words.preferences import preferences_of
from motorpool.actors.words.printable import printable_line
from motorpool.storage.records import Device, Event, Notification

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
ALL = "|".join(f"{{{name}}}" for name in PLACEHOLDERS)


def said(kind="deviceOverspeed", place="", *, link="https://fleet.example.org", words=STANDARD, **reads):
    facts = example_facts(Notification(type=kind), NOON, link)
    return render(facts, Reader(preferences_of(reads, {})), place, words)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("subject", "{device} left {geofence}", ""),
        ("text", "{event}\n\tat {time}", ""),
        ("text", "{}", "{} is none of device,"),
        ("text", "{DEVICE}", "{DEVICE} is none of device,"),
        ("text", "{device.name}", "{device.name} is none of"),
        ("text", "{{device}} } {", ""),
        ("text", "{" + "x" * 900 + "}", "{" + "x" * 40 + "} is none of"),
        ("subject", "a\nb", "has characters that are not printable"),
        ("text", "a\0b", "has characters that are not printable"),
        ("subject", "x" * 201, "has more than 200 characters"),
        ("text", "x" * 1001, "has more than 1000 characters"),
        ("text", "\n" * 21, "has more than 20 lines"),
        ("text", 7, "is not text"),
    ],
)
def test_what_is_refused(key, value, problem):
    found = problem_of(key, value)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_words_that_would_be_refused_today_are_those_of_the_server():
    assert own_words_of({"subject": "{nothing}", "text": "{device}"}) == OwnWords("", "{device}")
    assert own_words_of({"subject": 7}) == STANDARD


@pytest.mark.parametrize("name", languages())
def test_every_placeholder_has_a_value_in_every_language_and_for_every_type(name):
    for kind in EVENT_TYPES:
        filled = said(kind, "Lisboa", words=OwnWords(ALL, ALL), language=name)
        values = filled.text.strip().split("|")
        assert len(values) == len(PLACEHOLDERS)
        assert all(values), (kind, values)
        assert "{" not in filled.subject


def test_a_subject_and_a_text_stand_in_place_of_those_of_the_server():
    words = OwnWords("{device}: {type}", "{driver} drives {device}\nat {speed} (limit {limit})\n\n{time}")
    found = said(words=words, timezone="Europe/Lisbon")
    assert found.subject == "Van 12: Too fast"
    assert found.digest == "Ana Silva drives Van 12 at 92.6 km/h (limit 80.0 km/h) 2026-06-15 13:00:00"
    assert found.text == (
        "Ana Silva drives Van 12\nat 92.6 km/h (limit 80.0 km/h)\n\n2026-06-15 13:00:00\n"
        "https://fleet.example.org/event/0\n"
    )
    assert "<p>at 92.6 km/h (limit 80.0 km/h)</p>" in found.html
    assert '<a href="https://fleet.example.org/event/0">' in found.html
    assert "<table>" not in found.html


def test_what_is_left_empty_is_as_the_server_says_it():
    standard = said()
    only_subject = said(words=OwnWords("Look at {device}", ""))
    assert (only_subject.subject, only_subject.text) == ("Look at Van 12", standard.text)
    assert only_subject.html == standard.html
    only_text = said(words=OwnWords("", "Hello"))
    assert (only_text.subject, only_text.digest) == (standard.subject, "Hello")


def test_the_link_is_told_once():
    assert said(words=OwnWords("", "See {link}")).text == "See https://fleet.example.org/event/0\n"
    assert "<a" not in said(words=OwnWords("", "See {link}")).html
    assert said(words=OwnWords("", "See {link}"), link="").text == "See\n"


def test_mails_show_html_as_it_was_written_and_names_hold_no_placeholders():
    facts = EventFacts(
        event=Event(type="deviceMoving", event_time=NOON), device=Device(id=1, name="<b>{driver}\r\nBcc: x")
    )
    found = render(facts, Reader(), "", OwnWords("{device}", "<img src=x> {device}"))
    assert found.subject == "<b>{driver} Bcc: x"
    assert "<img" not in found.html
    assert "&lt;img src=x&gt; &lt;b&gt;{driver} Bcc: x" in found.html


def test_long_words_are_cut():
    found = said(words=OwnWords("{event} " * 25, "{event}\n" * 20))
    assert len(found.subject) <= 250
    assert len(found.digest) <= 2000


def test_no_more_characters_are_looked_at_than_are_said(monkeypatch):
    looked = []

    def line(text):
        looked.append(len(text))
        return printable_line(text)

    monkeypatch.setattr(own_words, "printable_line", line)
    words = OwnWords("{link}" * 33, "{link}" * 166)
    filled = words.fill(dict.fromkeys(PLACEHOLDERS, "x" * 500))
    assert (len(filled.subject), len(filled.text)) == (250, 2000)
    assert sum(looked) == 2250


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_not_refused_is_filled_without_an_error(subject, text):
    words = own_words_of({"subject": subject, "text": text})
    found = said(words=words)
    assert found.subject
    assert "\n" not in found.subject
    assert "\n" not in found.digest
