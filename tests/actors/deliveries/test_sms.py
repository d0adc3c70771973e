"""Requests to a gateway."""

import json
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.deliveries.notificators.sms import Sms, SmsSettings, telephone_number
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.messages.counters import SMS_SENT
from motorpool.storage.deliveries.outbox import OutgoingMessage


def message(text="Hello", to="+49 30 1234567"):
    return OutgoingMessage(channel="sms", to=to, text=text)


def sms(url, **fields):
    return OutgoingServices(sms=SmsSettings(url=url, **fields)).sms


async def test_a_message_is_one_request_with_the_number_and_the_words(web_server):
    server = web_server(lambda _: (202, b"{}"))
    before = SMS_SENT.value
    await sms(server.url, authorization="Bearer secret", headers=("X-Sender: fleet",)).send(
        message(), Envelope(message_id="0123")
    )
    (asked,) = server.asked
    assert asked.method == "POST"
    assert json.loads(asked.body) == {"to": "+49301234567", "text": "Hello"}
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Authorization"] == "Bearer secret"
    assert asked.headers["X-Sender"] == "fleet"
    assert SMS_SENT.value == before + 1


@settings(suppress_health_check=list(HealthCheck), max_examples=25, deadline=None)
@given(
    text=st.text(st.characters(codec="utf-8"), max_size=200)
    | st.sampled_from(['"}', "{phone}", "{id}", "\\"])
)
async def test_any_words_arrive_as_they_are_in_json_and_in_a_form(web_server, text):
    server = web_server()
    await sms(server.url).send(message(text), Envelope(message_id="0123"))
    await sms(server.url, template="to={phone}&text={message}&id={id}").send(
        message(text), Envelope(message_id="0123")
    )
    in_json, form = server.asked
    assert json.loads(in_json.body)["text"] == text
    fields = parse_qs(form.body.decode(), keep_blank_values=True)
    assert fields == {"to": ["+49301234567"], "text": [text], "id": ["0123"]}
    assert form.headers["Content-Type"] == "application/x-www-form-urlencoded"


async def test_a_gateway_may_want_everything_in_the_address(web_server):
    server = web_server()
    gateway = sms(server.url + "/send?to={phone}&text={message}&key=k", method="GET")
    await gateway.send(message("a b&c"), Envelope(message_id="0123"))
    (asked,) = server.asked
    assert (asked.method, asked.body) == ("GET", b"")
    assert asked.path == "/send?to=%2B49301234567&text=a%20b%26c&key=k"


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_what_the_gateway_does_not_take_concerns_this_message(web_server, status):
    server = web_server(lambda _: (status, b"your key secret"))
    with pytest.raises(DeliveryRefused, match=f"the SMS gateway answers {status}") as caught:
        await sms(server.url).send(message(), Envelope(message_id="0123"))
    assert not caught.value.permanent
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 401, 403, 429, 500, 503])
async def test_what_is_wrong_with_the_gateway_concerns_all(web_server, status):
    server = web_server(lambda _: (status, b""))
    with pytest.raises(Unreachable, match=f"the SMS gateway answers {status}"):
        await sms(server.url).send(message(), Envelope(message_id="0123"))


async def test_a_gateway_that_hangs_or_is_away_is_unreachable(hanging_port):
    for port, error in (
        (hanging_port, r"127\.0\.0\.1 gave no answer within 0\.05 s"),
        (1, r"127\.0\.0\.1 cannot be connected to"),
    ):
        url = f"http://127.0.0.1:{port}/?key=secret"
        with pytest.raises(Unreachable, match=f"the SMS gateway was not reached: {error}") as caught:
            await sms(url, seconds=0.05).send(message(), Envelope(message_id="0123"))
        assert "secret" not in str(caught.value)


async def test_without_a_gateway_no_message_goes():
    with pytest.raises(Unreachable, match="no SMS gateway is configured"):
        await OutgoingServices().sms.send(message(), Envelope(message_id="0123"))


async def test_a_long_text_is_refused_and_not_cut(web_server):
    server = web_server()
    with pytest.raises(DeliveryRefused, match="at most 1000 characters") as caught:
        await sms(server.url).send(message("x" * 1001), Envelope(message_id="0123"))
    assert caught.value.permanent
    assert server.asked == []


def test_a_gateway_shows_none_of_its_secrets():
    gateway = SmsSettings(url="https://secret", headers=("X: secret",), authorization="secret")
    assert "secret" not in repr(gateway)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("+49 (30) 123-45/67", "+49301234567"),
        ("112", "112"),
        ("030.1234567", "0301234567"),
    ],
)
def test_a_number_loses_what_people_put_between_its_digits(text, number):
    assert telephone_number(text) == number


@pytest.mark.parametrize("text", ["", "1", "+", "ann", "12x", "+49+30", "1" * 21, "12\n34", "١٢٣"])
def test_what_is_no_number_gets_no_message_ever(text):
    with pytest.raises(DeliveryRefused) as caught:
        telephone_number(text)
    assert caught.value.permanent
    assert not Sms.can_reach(text)
    assert not Sms.can_reach(None)
