"""Whose account sends a mail."""

from datetime import UTC, datetime

import pytest

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.deliveries.notificators.mail import Mail, MailSettings, user_account
from motorpool.actors.deliveries.smtp import SmtpAccount
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.actors.messages.counters import MAIL_SENT
from motorpool.storage.deliveries.outbox import OutgoingMessage

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
MESSAGE = OutgoingMessage(channel="mail", to="ann@example.org", subject="Hi", text="Hello")
HOST = "mail.smtp.host"


def account(port, **fields):
    return MailSettings(
        **{"host": "127.0.0.1", "port": port, "security": "none", "address": "fleet@example.net", **fields}
    )


def mail_of(settings=None, *allow):
    return OutgoingServices(allow=allow, mail=settings or MailSettings()).mail


async def send(mail, message=MESSAGE, **fields):
    await mail.send(message, Envelope(message_id="0123", date=NOON, **fields))


async def test_the_servers_account_sends_and_the_mail_is_counted(mail_server):
    server = await mail_server()
    before = MAIL_SENT.value
    await send(mail_of(account(server.port, name="Fleet")))
    _, letter = await server.next()
    assert (letter["From"], letter["To"], letter["Subject"]) == (
        "Fleet <fleet@example.net>",
        "ann@example.org",
        "Hi",
    )
    assert letter["Message-ID"] == "<0123@example.net>"
    assert MAIL_SENT.value == before + 1


async def test_a_users_own_account_sends_where_he_has_one(mail_server):
    house, own = await mail_server(), await mail_server(login=("ann", "hers"))
    mail = mail_of(account(house.port), "127.0.0.1/32")
    attributes = {
        HOST: "127.0.0.1",
        "mail.smtp.port": own.port,
        "mail.smtp.username": "ann",
        "mail.smtp.password": "hers",
        "mail.smtp.from": "office@example.com",
    }
    await send(mail, attributes=attributes)
    assert (await own.next())[1]["From"] == "office@example.com"
    assert own.logins == ["ann"]
    assert house.left == 0


async def test_a_system_mail_goes_by_the_servers_account_in_any_case(mail_server):
    house, own = await mail_server(), await mail_server()
    mail = mail_of(account(house.port), "127.0.0.1/32")
    message = OutgoingMessage(channel="mail", to="ann@example.org", text="Reset", system=True)
    await send(mail, message, attributes={HOST: "127.0.0.1", "mail.smtp.port": own.port})
    assert (house.left, own.left) == (1, 0)


async def test_a_users_own_host_may_not_lie_in_a_private_network(mail_server):
    own = await mail_server()
    mail = mail_of(None)
    with pytest.raises(DeliveryRefused, match="private network"):
        await send(mail, attributes={HOST: "127.0.0.1", "mail.smtp.port": own.port})
    assert own.left == 0


async def test_without_any_account_no_mail_goes():
    with pytest.raises(Unreachable, match="no mail server is configured"):
        await send(mail_of())


async def test_a_server_that_hangs_costs_the_accounts_patience(hanging_port):
    mail = mail_of(account(hanging_port, seconds=0.05))
    with pytest.raises(Unreachable, match=r"did not take the mail within 0\.05 s"):
        await send(mail)


def test_an_own_account_is_read_from_the_attributes_whatever_their_form():
    found = user_account(
        {
            HOST: " smtp.example.com ",
            "mail.smtp.port": "2465",
            "mail.smtp.ssl.enable": "true",
            "mail.smtp.username": "ann",
            "mail.smtp.password": "hers",
        },
        "ann@example.org",
    )
    assert found == SmtpAccount(
        host="smtp.example.com",
        port=2465,
        security="tls",
        username="ann",
        password="hers",
        address="ann@example.org",
    )
    assert user_account({HOST: "h", "mail.smtp.starttls.enable": True}, "").security == "starttls"
    assert user_account({HOST: "h"}, "").security == "none"


@pytest.mark.parametrize("port", [None, "", "x", "²", -1, 0, 70000, 1.5, [], {}, "99999999"])
def test_a_port_that_is_none_is_the_usual_one(port):
    assert user_account({HOST: "h", "mail.smtp.port": port}, "").service == ("h", 25)


@pytest.mark.parametrize("host", [None, "", "  ", 5, True, [], {}])
def test_without_a_host_there_is_no_account_of_ones_own(host):
    assert user_account({HOST: host, "mail.smtp.from": "eve@example.org"}, "") is None
    assert user_account({}, "") is None


async def test_the_servers_password_never_goes_to_a_users_host(mail_server):
    own = await mail_server(login=("fleet", "secret"))
    mail = mail_of(account(own.port, username="fleet", password="secret"), "127.0.0.1/32")
    await send(mail, attributes={HOST: "127.0.0.1", "mail.smtp.port": own.port})
    assert (await own.next())[1]["From"] == "ann@example.org"
    assert own.logins == []


def test_who_can_be_sent_mail():
    nobody, all_of_them = mail_of(), mail_of(account(25))
    assert (nobody.enabled, all_of_them.enabled) == (False, True)
    assert not nobody.enabled_for({})
    assert nobody.enabled_for({HOST: "h"})
    assert all_of_them.enabled_for({})
    assert Mail.can_reach("ann@example.org")
    assert not Mail.can_reach("admin")
