import pytest

from motorpool.storage.database.conditions import ALWAYS, Condition, all_of, any_of, contains_keyword


def test_parameters_are_numbered_across_joined_conditions():
    joined = all_of(Condition("a = {0} or b = {0}", (1,)), Condition("c between {0} and {1}", (2, 3)))
    assert joined.numbered() == "(a = $1 or b = $1) and (c between $2 and $3)"
    assert joined.args == (1, 2, 3)
    assert joined.numbered(5) == "(a = $5 or b = $5) and (c between $6 and $7)"


def test_conditions_nest():
    inner = any_of(Condition("a = {0}", (1,)), Condition("b = {0}", (2,)))
    assert all_of(Condition("c = {0}", (3,)), inner).numbered() == "(c = $1) and ((a = $2) or (b = $3))"


def test_nothing_to_join_holds_for_all_or_for_none():
    assert all_of() == ALWAYS
    assert any_of().numbered() == "false"


def test_doubled_braces_survive_joining():
    condition = all_of(Condition("x = '{{}}' and y = {0}", (1,)), all_of(Condition("z = '{{}}'")))
    assert condition.numbered() == "(x = '{}' and y = $1) and ((z = '{}'))"


@pytest.mark.parametrize(
    ("keyword", "found"),
    [
        ("VAN", {"red van"}),
        ("%", {"100% full"}),
        ("_", {"under_score"}),
        ("\\", {"back\\slash"}),
        ("ÄPFEL", {"äpfel"}),
        ("", {"red van", "100% full", "under_score", "back\\slash", "äpfel"}),
    ],
)
async def test_a_keyword_is_a_piece_of_text_and_no_pattern(database, keyword, found):
    words = ["red van", "100% full", "under_score", "back\\slash", "äpfel"]
    condition = contains_keyword(keyword, ("name",))
    sql = f"select name from unnest($1::text[]) as words (name) where {condition.numbered(2)}"
    rows = await database.fetch(sql, words, *condition.args)
    assert {row["name"] for row in rows} == found
