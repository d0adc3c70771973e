"""The webhook of a company, as it is stored: what clients may set, and what the server keeps and writes."""

import base64
from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.helpdesk.webhook_settings import (
    TYPES,
    WebhookRefused,
    disabling,
    mask,
    read_settings,
    validate_change,
)
from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.words.masking import MASK

NOW = datetime(2026, 10, 12, 8, 0, tzinfo=UTC)
URL = "https://hooks.example.org/tickets"
SECRET = "my-existing-plain-secret"


def saved(sent, held=None, now=NOW):
    old = None if held is None else {"ticketWebhook": held}
    return validate_change(old, {"ticketWebhook": sent}, now, AddressGuard())["ticketWebhook"]


def test_a_new_webhook_gets_a_secret():
    stored = saved({"url": f" {URL} "})
    assert stored["url"] == URL
    assert len(base64.b64decode(stored["secret"].removeprefix("whsec_"))) == 32
    assert stored["secret"] != saved({"url": URL})["secret"]
    settings = read_settings({"ticketWebhook": stored})
    assert settings.secrets_at(NOW) == (stored["secret"],)
    assert [each for each in TYPES if not settings.wants(each)] == ["ticket.noted"]


@pytest.mark.parametrize(
    "secret", [{}, {"secret": MASK}, {"secret": None}, {"secret": ""}, {"secret": SECRET}]
)
def test_a_secret_that_is_masked_or_left_out_is_kept(secret):
    held = {"url": URL, "secret": SECRET}
    assert saved({"url": URL + "/new", **secret}, held) == {"url": URL + "/new", "secret": SECRET}


def test_the_secret_before_signs_for_a_day():
    changed = saved({"url": URL, "secret": "another plain secret"}, {"url": URL, "secret": SECRET})
    assert changed == {
        "url": URL,
        "secret": "another plain secret",
        "previousSecret": SECRET,
        "previousUntil": "2026-10-13T08:00:00Z",
    }
    settings = read_settings({"ticketWebhook": changed})
    assert settings.secrets_at(NOW + timedelta(hours=23)) == ("another plain secret", SECRET)
    assert settings.secrets_at(NOW + timedelta(hours=24)) == ("another plain secret",)
    # It stays through later edits, whatever a client sends, until it has ended.
    edited = {**changed, "previousSecret": "chosen by the client", "thin": True}
    assert saved(edited, changed) == {**changed, "thin": True}
    assert "previousSecret" not in saved(edited, changed, NOW + timedelta(hours=24))


def test_only_an_explicit_false_enables_a_webhook_again():
    held = {"url": URL, "secret": SECRET, **disabling("it answers 410", NOW)}
    assert (held["disabledAt"], held["disabledReason"]) == ("2026-10-12T08:00:00Z", "it answers 410")
    assert saved({"url": URL}, held) == held
    assert saved({"url": URL, "disabled": True, "disabledReason": "mine"}, held) == held
    assert saved({**held, "disabled": False}, held) == {"url": URL, "secret": SECRET}
    by_manager = saved({"url": URL, "disabled": True}, {"url": URL, "secret": SECRET})
    assert by_manager["disabledReason"] == "disabled by a manager"
    assert read_settings({"ticketWebhook": by_manager}).disabled


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "https://hooks.example.org:22/",
        "https://127.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://hooks .example.org/",
        "https://ann@hooks.example.org/",
    ],
)
def test_a_url_that_no_attempt_could_reach_is_refused(url):
    with pytest.raises(WebhookRefused, match=r"^ticketWebhook\.url: "):
        saved({"url": url})
    # What was stored before it was refused may stay.
    assert saved({"url": url}, {"url": url, "secret": SECRET})["url"] == url


def test_what_the_operator_allows_may_be_named():
    guard = AddressGuard(("10.0.0.0/8",))
    for url in ("http://10.1.2.3:9000/", "http://hooks.example.org/"):
        stored = validate_change(None, {"ticketWebhook": {"url": url}}, NOW, guard)
        assert stored["ticketWebhook"]["url"] == url
    with pytest.raises(WebhookRefused):
        validate_change(None, {"ticketWebhook": {"url": "http://192.168.1.1/"}}, NOW, guard)


def test_a_webhook_can_be_removed():
    held = {"url": URL, "secret": SECRET}
    for sent in ({}, {"ticketWebhook": None}):
        assert validate_change({"ticketWebhook": held}, {"zone": "north", **sent}, NOW, AddressGuard()) == {
            "zone": "north"
        }
    assert read_settings({"zone": "north"}) is None
    assert read_settings({"ticketWebhook": "https://example.org"}) is None


def test_events_are_chosen_by_name():
    stored = saved({"url": URL, "events": ["ticket.noted", "ticket.deleted", "ticket.noted"]})
    assert stored["events"] == ["ticket.noted", "ticket.deleted"]
    settings = read_settings({"ticketWebhook": stored})
    assert [each for each in TYPES if settings.wants(each)] == stored["events"]


@pytest.mark.parametrize(
    "sent",
    [
        "https://example.org",
        {},
        {"url": ""},
        {"url": 7},
        {"url": "ftp://example.org"},
        {"url": "https://user:word@example.org"},
        {"url": "https://example.org/" + "a" * 2048},
        {"url": URL, "secret": "too short"},
        {"url": URL, "secret": 12345678901234567890},
        {"url": URL, "secret": "a" * 257},
        {"url": URL, "secret": "whsec_" + base64.b64encode(b"a" * 23).decode()},
        {"url": URL, "secret": "whsec_" + base64.b64encode(b"a" * 65).decode()},
        {"url": URL, "secret": "whsec_this is not the base64 of anything"},
        {"url": URL, "events": []},
        {"url": URL, "events": "ticket.created"},
        {"url": URL, "events": ["ticket.exploded"]},
        {"url": URL, "events": [["ticket.created"]]},
        {"url": URL, "thin": "yes"},
        {"url": URL, "disabled": 1},
    ],
)
def test_what_is_no_webhook_is_refused(sent):
    with pytest.raises(WebhookRefused) as refused:
        saved(sent)
    assert str(refused.value).startswith("ticketWebhook")
    assert "\n" not in str(refused.value)


def test_secrets_are_masked():
    stored = {"url": URL, "secret": SECRET, "previousSecret": "a"}
    assert mask({"a": 1, "ticketWebhook": stored}) == {
        "a": 1,
        "ticketWebhook": {"url": URL, "secret": MASK, "previousSecret": MASK},
    }
    assert mask({"a": 1}) == {"a": 1}
