import pytest

from motorpool.actors.words.cells import harmless, is_like_formula

FORMULAS = [
    "=1+1",
    "+1",
    "-1+cmd|' /C calc'!A0",
    "@SUM(A1)",
    " =1+1",
    "  \t=1+1",
    "\u00a0=1",
    "\u3000=1",
    "\u200b=1",
    "\ufeff=1",
    "\uff1b=1",
    ";=1",
    ',"=1',
    "|=1",
    "\uff0c@x",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20x",
    " \uff1d1",
    "\ttext",
    "\rtext",
    "\ntext",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_may_take_for_a_formula_becomes_text(text):
    assert is_like_formula(text)
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", " ", "x", "a=1", "1-2", "'=1", "Depot; -5 °C", "São Paulo", "(=1)", ";", "#1", "٣", "x\n=1"]
)
def test_other_texts_stay_as_they_are(text):
    assert not is_like_formula(text)
    assert harmless(text) == text
