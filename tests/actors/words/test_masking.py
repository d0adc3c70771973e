import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.words.masking import MASK, mask_secrets, restore_secrets
from motorpool.storage.records import ComputedAttribute, User

MAIL = {"mail.smtp.host": "mail.example.org", "mail.smtp.password": "hush"}
HOOK = {"ticketWebhook": {"url": "https://example.org", "secret": "whsec"}}


def hidden(attributes):
    return mask_secrets(User(attributes=attributes)).attributes


def kept(sent, stored):
    return restore_secrets(
        User(attributes=sent), None if stored is None else User(attributes=stored)
    ).attributes


def test_secrets_are_masked_and_all_else_stays():
    assert hidden({**MAIL, "x": {"secret": 1}}) == {
        "mail.smtp.host": "mail.example.org",
        "mail.smtp.password": MASK,
        "x": {"secret": 1},
    }
    assert hidden(HOOK) == {"ticketWebhook": {"url": "https://example.org", "secret": MASK}}
    for odd in ({"ticketWebhook": 5}, {"ticketWebhook": {}}, {"mail.smtp.host": "x"}, {}):
        assert hidden(odd) == odd
    assert mask_secrets(ComputedAttribute(expression="1")) == ComputedAttribute(expression="1")


@pytest.mark.parametrize(
    ("sent", "stored", "expected"),
    [
        # Sent back as it was shown, or left out: what is stored stays.
        ({**MAIL, "mail.smtp.password": MASK}, MAIL, MAIL),
        ({"mail.smtp.host": "mail.example.org"}, MAIL, MAIL),
        (
            {"ticketWebhook": {"url": "u", "secret": MASK}},
            HOOK,
            {"ticketWebhook": {"url": "u", "secret": "whsec"}},
        ),
        ({"ticketWebhook": {"url": "u"}}, HOOK, {"ticketWebhook": {"url": "u", "secret": "whsec"}}),
        # A new one counts.
        ({**MAIL, "mail.smtp.password": "new"}, MAIL, {**MAIL, "mail.smtp.password": "new"}),
        (MAIL, None, MAIL),
        (HOOK, {}, HOOK),
        # Removed on purpose, or with what held it.
        ({**MAIL, "mail.smtp.password": None}, MAIL, {"mail.smtp.host": "mail.example.org"}),
        ({**MAIL, "mail.smtp.password": ""}, MAIL, {"mail.smtp.host": "mail.example.org"}),
        ({"ticketWebhook": {"url": "u", "secret": ""}}, HOOK, {"ticketWebhook": {"url": "u"}}),
        ({}, HOOK, {}),
        ({"ticketWebhook": None}, HOOK, {"ticketWebhook": None}),
        # A mask of nothing is nothing.
        ({"mail.smtp.password": MASK}, {}, {}),
        ({"mail.smtp.password": MASK}, None, {}),
        ({"ticketWebhook": {"secret": MASK}}, {"ticketWebhook": "odd"}, {"ticketWebhook": {}}),
        # Another host is not told what was meant for the first.
        ({"mail.smtp.host": "evil.example.org"}, MAIL, {"mail.smtp.host": "evil.example.org"}),
        ({**MAIL, "mail.smtp.host": "evil", "mail.smtp.password": MASK}, MAIL, {"mail.smtp.host": "evil"}),
    ],
)
def test_what_is_stored_of_secrets(sent, stored, expected):
    assert kept(sent, stored) == expected


values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3) | st.just(MASK),
    lambda inner: st.dictionaries(st.sampled_from(["url", "secret", "x"]), inner, max_size=3),
    max_leaves=5,
)
attributes = st.dictionaries(
    st.sampled_from(["mail.smtp.host", "mail.smtp.password", "ticketWebhook", "x"]), values, max_size=4
)


@given(attributes, attributes)
def test_a_client_that_gets_edits_and_puts_back_keeps_what_it_did_not_touch(first, change):
    stored = kept(first, None)
    shown = hidden(stored)
    assert kept(shown, stored) == stored
    edited = {**shown, "x": change.get("x")}
    assert kept(edited, stored) == {**stored, "x": change.get("x")}
