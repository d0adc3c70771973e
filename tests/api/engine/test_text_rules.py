import msgspec
import pytest

from motorpool.api.engine.text_rules import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, TextRules, rules_for_all
from motorpool.api.http.errors import BadRequest


class Parcel(msgspec.Struct, rename="camel"):
    name: str = ""
    note: str | None = None
    raw_label: str = ""
    grams: int = 0


def test_texts_are_trimmed_but_those_to_be_kept_as_they_are():
    rules = rules_for_all(Parcel, required=("name", "grams"), verbatim=("raw_label",))
    assert rules.max_lengths == {"name": MAX_NAME_LENGTH, "note": MAX_TEXT_LENGTH}
    sent = Parcel(name=" a ", note="\tb", raw_label=" c ")
    assert rules.trimmed(sent) == Parcel(name="a", note="b", raw_label=" c ")
    assert rules.trimmed(Parcel(name="a")) == Parcel(name="a")


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (Parcel(raw_label="  "), "rawLabel: needed"),
        (Parcel(raw_label="x", note=" " * 5), "note: longer than 4 characters"),
    ],
)
def test_blank_and_long_texts_are_refused_as_they_were_sent(sent, error):
    rules = TextRules({"note": 4, "name": None}, required=("raw_label",))
    with pytest.raises(BadRequest, match=f"^{error}$"):
        rules.trimmed(sent)


def test_a_text_may_be_of_any_length():
    long = "x" * 100_000
    assert TextRules({"name": None}).trimmed(Parcel(name=f" {long} ")).name == long


def test_an_empty_text_is_as_an_absent_one_unless_it_means_something_else():
    assert TextRules().trimmed(Parcel(note="")) == Parcel(note=None)
    assert TextRules({"note": 9}).trimmed(Parcel(note="  ")) == Parcel(note=None)
    assert TextRules(keeps_empty=frozenset({"note"})).trimmed(Parcel(note="")) == Parcel(note="")
