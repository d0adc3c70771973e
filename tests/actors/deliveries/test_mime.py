"""From a message to a mail, and what cannot be one."""

from datetime import UTC, datetime
from email import message_from_bytes, policy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.deliveries.mime import compose, mail_address
from motorpool.actors.http.errors import DeliveryRefused
from motorpool.storage.deliveries.outbox import OutgoingMessage

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def letter(**fields):
    message = OutgoingMessage(channel="mail", **{"to": "ann@example.org", "text": "Hello", **fields})
    envelope = compose(
        message, sender="fleet@example.net", sender_name="Motor pool", message_id="0123abcd", date=NOON
    )
    return envelope, message_from_bytes(envelope.content, policy=policy.default)


def test_a_mail_has_all_that_a_mail_needs_and_its_stable_id():
    envelope, mail = letter(subject="Grüße")
    assert (envelope.sender, envelope.recipient) == ("fleet@example.net", "ann@example.org")
    assert mail["From"] == "Motor pool <fleet@example.net>"
    assert mail["To"] == "ann@example.org"
    assert mail["Subject"] == "Grüße"
    assert mail["Date"] == "Mon, 15 Jun 2026 12:00:00 +0000"
    assert mail["Message-ID"] == "<0123abcd@example.net>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Importance"] is None
    assert mail.get_content().split() == ["Hello"]
    assert letter(subject="Grüße")[0] == envelope


def test_an_urgent_mail_says_so():
    assert letter(urgent=True)[1]["Importance"] == "high"


def test_text_and_html_are_two_forms_of_one_mail():
    _, mail = letter(text="Zürich", html="<p>Zürich</p>")
    assert mail.get_content_type() == "multipart/alternative"
    assert mail.get_body(("plain",)).get_content().split() == ["Zürich"]
    assert mail.get_body(("html",)).get_content().split() == ["<p>Zürich</p>"]


@given(st.text(max_size=300), st.text(st.characters(codec="utf-8"), max_size=2000))
def test_no_subject_makes_a_header_and_every_mail_is_seven_bit_in_short_lines(subject, text):
    envelope, mail = letter(subject=subject + "\r\nBcc: eve@example.org\r\n\r\nbody", text=text)
    assert mail["Bcc"] is None
    assert "\n" not in mail["Subject"]
    assert set(mail.keys()) >= {"From", "To", "Subject", "Date", "Message-ID"}
    assert envelope.content.isascii()
    assert all(len(line) <= 998 for line in envelope.content.split(b"\r\n"))
    assert b"\n" not in envelope.content.replace(b"\r\n", b"")


@given(st.text(st.characters(codec="utf-8"), max_size=500))
def test_a_text_arrives_as_it_was_but_for_its_line_ends(text):
    content = letter(text=text)[1].get_content()
    assert content.split() == text.split()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "ann@example@org",
        "ann smith@example.org",
        "ann@example.org, eve@example.org",
        "<ann@example.org>",
        "ann@example.org\r\nBcc: eve@example.org",
        "ann@example.org\0",
        "ann@exa\nmple.org",
        "owner@example.org:123456",
        "a" * 300 + "@example.org",
        "ann@" + "a" * 80 + ".org",
    ],
)
def test_what_is_no_address_gets_no_mail_ever(text):
    with pytest.raises(DeliveryRefused) as caught:
        mail_address(text)
    assert caught.value.permanent


def test_an_address_in_another_script_is_written_as_mail_servers_know_it():
    assert mail_address(" ann@bücher.example ") == "ann@xn--bcher-kva.example"
    envelope, mail = letter(to="ann@bücher.example")
    assert not envelope.international
    assert mail["To"] == "ann@xn--bcher-kva.example"


def test_a_local_part_in_another_script_asks_for_more_of_the_server():
    envelope, mail = letter(to="jürgen@example.org")
    assert envelope.international
    assert envelope.recipient == "jürgen@example.org"
    assert mail["To"] == "jürgen@example.org"
