import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.channel_map import CHANNEL_MAP_ATTRIBUTE, UNMAPPED, parse_channel_map
from motorpool.codecs.errors import CodecError


def read(text: object):
    return parse_channel_map({CHANNEL_MAP_ATTRIBUTE: text})


def test_without_the_attribute_numbers_are_channels() -> None:
    assert parse_channel_map({}) == read("") == read(None) == UNMAPPED
    assert (UNMAPPED.channel_of(36), UNMAPPED.number_of(3)) == (36, 3)


def test_a_terminal_that_counts_from_nought_is_one_off() -> None:
    numbers = read("0:1, 1:2 ,2:3")
    assert [numbers.channel_of(number) for number in (0, 1, 2, 9)] == [1, 2, 3, 9]
    assert [numbers.number_of(channel) for channel in (1, 2, 3, 9)] == [0, 1, 2, 9]


def test_of_several_numbers_of_one_channel_commands_carry_the_first() -> None:
    numbers = read("1:1,33:1")
    assert (numbers.channel_of(1), numbers.channel_of(33)) == (1, 1)
    assert numbers.number_of(1) == 1
    assert read("33:1,1:1").number_of(1) == 33


@pytest.mark.parametrize(
    "text",
    ["1", "1:", ":1", "a:1", "1:0", "1:32", "256:1", "-1:1", "1:1,", "0:1,0:2", "1:1:1", "²:1", 7, [1]],
)
def test_what_is_no_list_of_pairs_is_refused_with_its_own_words(text: object) -> None:
    with pytest.raises(CodecError, match=r"^jt1078\.channels: .{10,120}$"):
        read(text)


@given(st.dictionaries(st.integers(0, 255), st.integers(1, 31), min_size=1))
def test_what_is_listed_reads_back(pairs: dict[int, int]) -> None:
    numbers = read(",".join(f"{number}:{channel}" for number, channel in pairs.items()))
    assert {number: numbers.channel_of(number) for number in pairs} == pairs
    for channel in pairs.values():
        assert pairs[numbers.number_of(channel)] == channel


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(CodecError):
        assert all(0 <= number <= 255 for number in read(text).channel_by_number)
