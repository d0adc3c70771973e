"""Functions without an object."""

import math

import pytest


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("math:abs(-3)", 3),
        ("math:abs(-3.5)", 3.5),
        ("math:max(1, 2)", 2),
        ("math:max(1, 2.0)", 2.0),
        ("math:min('3', 2.5)", 2.5),
        ("math:clamp(15, 0, 10)", 10),
        ("math:round(2.5)", 3),
        ("math:round(-2.5)", -2),
        ("math:round(0.49999999999999994)", 0),
        ("math:round(1e300)", 2**63 - 1),
        ("math:round(NaN)", 0),
        ("math:round(7)", 7),
        ("math:round(speed * 18.52) / 10.0", 1.9),
        ("math:floor(-1.5)", -2.0),
        ("math:ceil(1.2)", 2.0),
        ("math:rint(2.5)", 2.0),
        ("math:signum(-4)", -1.0),
        ("math:sqrt(16)", 4.0),
        ("math:cbrt(27)", 3.0),
        ("math:cbrt(-1000)", -10.0),
        ("math:pow(2, 10)", 1024.0),
        ("math:pow(10, 400)", math.inf),
        ("math:pow(0, -1)", math.inf),
        ("math:log10(1000)", 3.0),
        ("math:log(0)", -math.inf),
        ("math:exp(1000)", math.inf),
        ("math:hypot(3, 4)", 5.0),
        ("math:toDegrees(math:atan2(1, 1))", 45.0),
        ("math:toRadians(180)", math.pi),
        ("math:floorDiv(-7, 2)", -4),
        ("math:floorMod(-7, 3)", 2),
        ("math:addExact(1, 2)", 3),
        ("Integer.parseInt('-42')", -42),
        ("Integer.parseInt('zz', 36)", 1295),
        ("Integer.valueOf(3.9)", 3),
        ("Integer.toHexString(255)", "ff"),
        ("Long.toBinaryString(5)", "101"),
        ("Long.bitCount(-1)", 64),
        ("Double.parseDouble('1.5')", 1.5),
        ("Double.valueOf(1)", 1.0),
        ("Boolean.parseBoolean('TRUE')", True),
        ("Boolean.parseBoolean('yes')", False),
        ("String.valueOf(1.0)", "1.0"),
    ],
)
def test_functions_give_what_java_gives(value, text, wanted):
    found = value(text, speed=1.0)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("text", ["math:sqrt(-1)", "math:log(-1)", "math:asin(2)", "math:max(NaN, 1)"])
def test_what_has_no_result_is_not_a_number(value, text):
    assert math.isnan(value(text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("math:abs()", "math:abs does not take so many arguments"),
        ("math:abs(1, 2)", "math:abs does not take so many arguments"),
        ("math:abs('a')", "the text 'a' is not a number"),
        ("math:abs(null)", "null is not a number"),
        ("math:abs(-9223372036854775807 - 1)", "a whole number grew beyond 64 bits"),
        ("math:floorDiv(1, 0)", "division by zero"),
        ("math:multiplyExact(9223372036854775807, 2)", "a whole number grew beyond 64 bits"),
        ("Integer.parseInt('1.5')", "the text '1.5' is not a whole number"),
        ("Integer.parseInt('')", "the text '' is not a whole number"),
        ("Integer.parseInt('1_0')", "the text '1_0' is not a whole number"),
        ("Integer.parseInt('9', 8)", "the text '9' is not a whole number of base 8"),
        ("Integer.parseInt('9', 99)", "numbers have a base of 2 to 36, not 99"),
        ("math:random()", "there is no function math:random at character 1"),
    ],
)
def test_wrong_arguments_are_errors(refusal, text, wanted):
    assert refusal(text) == wanted
