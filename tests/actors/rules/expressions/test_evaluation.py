"""What an evaluation may cost."""

import pytest

LONG = "a text grew longer than 10000 characters"
WORK = "the expression takes too much work"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("s + s + s", LONG),
        ("s.repeat(1000000000)", LONG),
        ("s.concat(s).concat(s)", LONG),
        ("s.replace('a', s)", LONG),
        ("s.replace('', s)", LONG),
        ("s.replaceAll('a', 'aaaa')", LONG),
        ("`${s}${s}${s}`", LONG),
        ("'' + [s, s, s]", LONG),
        ("[" + ", ".join(["s.toUpperCase()"] * 200) + "]", WORK),
        ("[" + ", ".join(["s.contains(t)"] * 200) + "]", WORK),
        ("[" + ", ".join(["1 =~ list"] * 200) + "]", WORK),
        ("[" + ", ".join(["list.contains(1)"] * 200) + "]", WORK),
    ],
)
def test_neither_texts_nor_work_grow_without_bound(refusal, text, wanted):
    variables = {"s": "a" * 4000, "t": "a" * 200_000, "list": [0] * 5000}
    if "replaceAll" in text:
        variables["s"] = "a" * 2400
        # Each search is counted before the text could grow.
        wanted = WORK
    assert refusal(text, **variables) == wanted


def test_what_people_write_is_far_from_the_bounds(value):
    raw = "7e0200" * 300
    assert value("raw.substring(10, 14) + raw.length()", raw=raw) == "007e1800"
    assert value("result.toLowerCase().split(';').size()", result="A=1;B=2;" * 50) == 100
    assert value("result =~ '.*voltage=([0-9.]+).*'", result="x" * 1000 + "voltage=12.5") is True
