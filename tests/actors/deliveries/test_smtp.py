"""Conversations with a real SMTP server, and with servers that misbehave."""

import itertools
import socket
import threading
import traceback
from contextlib import suppress

import pytest
import trio
import trio.testing

from motorpool.actors.deliveries.smtp import SmtpAccount, SmtpEnvelope, submit
from motorpool.actors.http.errors import DeliveryRefused, Unreachable

PLAIN = SmtpEnvelope("fleet@example.net", "ann@example.org", b"Subject: x\r\n\r\nHello\r\n")


@pytest.fixture
def hand_in(authority):
    async def hand(port, envelope=PLAIN, **fields):
        account = SmtpAccount(**{"host": "mail.example", "port": port, "security": "none", **fields})
        with trio.fail_after(120):
            await submit(account, ("127.0.0.1",), envelope, authority.trusting, trio.CapacityLimiter(1))

    return hand


@pytest.fixture
def scripted():
    """`scripted(b"220 hi", b"250 ok", …)`: a server that answers a line to each line, then is silent."""
    listening, threads = [], []

    def serve(*answers):
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)

        def talk():
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as lines:
                for answer in answers:
                    connection.sendall(answer)
                    end = b".\r\n" if answer.startswith(b"354") else None
                    while (line := lines.readline()) and end not in {None, line}:
                        pass
                    if not line:
                        return
                while lines.readline():
                    pass

        threads.append(threading.Thread(target=talk))
        threads[-1].start()
        return server.getsockname()[1]

    yield serve
    for thread in threads:
        thread.join()
    for server in listening:
        server.close()


async def test_a_mail_arrives_byte_by_byte(mail_server, hand_in):
    server = await mail_server()
    content = b"Subject: dots\r\n\r\n.\r\n..\r\n.a\r\nb.\r\n\r\n.\r\n"
    await hand_in(server.port, SmtpEnvelope("fleet@example.net", "ann@example.org", content))
    envelope, _ = await server.next()
    assert (envelope.mail_from, envelope.rcpt_tos) == ("fleet@example.net", ["ann@example.org"])
    assert envelope.original_content == content


async def test_starttls_secures_the_connection_before_the_login(mail_server, hand_in, authority):
    server = await mail_server(
        tls_context=authority.server("mail.example"), require_starttls=True, login=("ann", "päss")
    )
    await hand_in(server.port, security="starttls", username="ann", password="päss")
    assert (await server.next())[0].rcpt_tos == ["ann@example.org"]
    assert server.logins == ["ann"]


async def test_a_connection_is_tls_from_the_start_where_that_is_wanted(mail_server, hand_in, authority):
    server = await mail_server(ssl_context=authority.server("mail.example"))
    await hand_in(server.port, security="tls")
    assert server.left == 1


async def test_a_certificate_of_another_name_is_not_believed(mail_server, hand_in, authority):
    server = await mail_server(tls_context=authority.server("other.example"))
    with pytest.raises(Unreachable, match=r"mail\.example cannot be trusted by TLS"):
        await hand_in(server.port, security="starttls")
    assert server.left == 0


async def test_no_mail_goes_in_the_clear_where_tls_is_wanted(mail_server, hand_in):
    server = await mail_server()
    with pytest.raises(Unreachable, match="STARTTLS extension not supported"):
        await hand_in(server.port, security="starttls")


async def test_what_is_said_before_tls_is_not_taken_for_the_servers_word_after(hand_in, authority):
    heard = []

    def talk():
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"220 hi\r\n")
            connection.recv(1000)
            connection.sendall(b"250-hi\r\n250 STARTTLS\r\n")
            connection.recv(1000)
            connection.sendall(b"220 go\r\n250-injected\r\n250 AUTH LOGIN\r\n")
            with authority.server("mail.example").wrap_socket(connection, server_side=True) as secured:
                heard.append(secured.recv(1000))
                secured.sendall(b"250-hi\r\n250 AUTH PLAIN\r\n")
                heard.append(secured.recv(1000))
                secured.sendall(b"535 no\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=talk)
        thread.start()
        with pytest.raises(Unreachable, match=r"refuses the login \(535\)"):
            await hand_in(listening.getsockname()[1], security="starttls", username="ann", password="x")
        await trio.to_thread.run_sync(thread.join)
    assert heard[0].lower().startswith(b"ehlo")
    assert heard[1].startswith(b"AUTH PLAIN")


@pytest.mark.parametrize("left_out", [("LOGIN",), ("PLAIN",)])
async def test_either_way_of_logging_in_will_do(mail_server, hand_in, left_out):
    server = await mail_server(login=("änn", "sëcret"), auth_exclude_mechanism=left_out)
    await hand_in(server.port, username="änn", password="sëcret")
    assert (server.logins, server.left) == (["änn"], 1)


async def test_a_wrong_password_stops_all_mail_and_is_not_repeated(mail_server, hand_in, caplog):
    server = await mail_server(login=("ann", "right"))
    with pytest.raises(Unreachable, match=r"refuses the login \(535\)") as caught:
        await hand_in(server.port, username="ann", password="wrong-secret")
    assert "wrong" not in str(caught.value) + caplog.text


async def test_a_server_that_repeats_the_password_does_not_make_us_do_so(hand_in, scripted):
    port = scripted(
        b"220 hi\r\n", b"250-hi\r\n250 AUTH PLAIN\r\n", b"500 what is AGFubgBzZWNyZXQ= secret?\r\n"
    )
    with pytest.raises(Unreachable) as caught:
        await hand_in(port, username="ann", password="secret")
    assert str(caught.value) == "mail.example refuses the login (500)"
    assert "secret" not in repr(SmtpAccount(host="h", password="secret"))


@pytest.mark.parametrize(
    ("offered", "answers"),
    [
        (b"GSSAPI", ()),
        (b"LOGIN", (b"334 not-base64-secret!\r\n",)),
        (b"LOGIN", (b"334 c2VjcmV0\r\n",) * 10),
        (b"LOGIN", (b"secret\r\n",)),
        (b"PLAIN", (b"500 secret" + b"x" * 10_000 + b"\r\n",)),
    ],
)
async def test_whatever_becomes_of_a_login_the_password_is_not_repeated(
    hand_in, scripted, caplog, offered, answers
):
    port = scripted(b"220 hi\r\n", b"250-hi\r\n250 AUTH " + offered + b"\r\n", *answers)
    with pytest.raises(Unreachable) as caught:
        await hand_in(port, username="ann", password="secret")
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__context__) + caplog.text
    assert "secret" not in told.replace('password="secret"', "")
    assert "c2VjcmV0" not in told


async def test_a_server_without_login_takes_no_credentials(mail_server, hand_in):
    server = await mail_server()
    with pytest.raises(Unreachable, match="AUTH extension not supported"):
        await hand_in(server.port, username="ann", password="secret")


async def test_an_unknown_recipient_concerns_this_mail_alone_and_for_good(mail_server, hand_in):
    server = await mail_server(refusals={"ann@example.org": "550 no such user here"})
    with pytest.raises(DeliveryRefused, match="does not take the mail: 550 no such user here") as caught:
        await hand_in(server.port)
    assert caught.value.permanent


@pytest.mark.parametrize(
    ("refusals", "permanent"),
    [
        ({"ann@example.org": "450 greylisted"}, False),
        ({"data": "451 try later"}, False),
        ({"data": "554 looks like spam"}, True),
    ],
)
async def test_what_may_be_taken_later_is_told_from_what_never_will(
    mail_server, hand_in, refusals, permanent
):
    server = await mail_server(refusals=refusals)
    with pytest.raises(DeliveryRefused) as caught:
        await hand_in(server.port)
    assert caught.value.permanent is permanent


async def test_a_server_that_is_closing_concerns_all_mail(mail_server, hand_in):
    server = await mail_server(refusals={"ann@example.org": "421 shutting down"})
    with pytest.raises(Unreachable, match="takes no mail: 421 shutting down"):
        await hand_in(server.port)


async def test_a_mail_past_the_servers_size_is_refused_before_it_is_sent(mail_server, hand_in):
    server = await mail_server(data_size_limit=1000)
    with pytest.raises(DeliveryRefused, match="552") as caught:
        await hand_in(
            server.port, SmtpEnvelope("a@example.net", "ann@example.org", b"x" * 70 + b"\r\n" * 600)
        )
    assert caught.value.permanent
    assert server.attempts == 0


async def test_an_international_address_needs_a_server_that_knows_them(mail_server, hand_in):
    envelope = SmtpEnvelope("fleet@example.net", "jürgen@example.org", "To: jürgen\r\n\r\n".encode(), True)
    knowing, other = await mail_server(enable_SMTPUTF8=True), await mail_server()
    await hand_in(knowing.port, envelope)
    assert (await knowing.next())[0].rcpt_tos == ["jürgen@example.org"]
    with pytest.raises(DeliveryRefused, match="only ASCII") as caught:
        await hand_in(other.port, envelope)
    assert caught.value.permanent


async def test_an_old_server_without_ehlo_will_do(hand_in, scripted):
    ok = b"250 ok\r\n"
    port = scripted(b"220 hi\r\n", b"502 what?\r\n", ok, ok, ok, b"354 go\r\n", ok, b"221 bye\r\n")
    await hand_in(port)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\r\n",
        b"hello\r\n",
        b"22\r\n",
        b"220x hi\r\n",
        b"\xff\xfe\xfd\r\n",
        b"x" * 10_000,
        b"220-more\r\n" * 1000,
        b"554 go away\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
async def test_what_does_not_speak_smtp_is_unreachable_in_one_line(hand_in, said):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk():
            connection, _ = listening.accept()
            with connection:
                connection.sendall(said)

        thread = threading.Thread(target=talk)
        thread.start()
        with pytest.raises(Unreachable) as caught:
            await hand_in(listening.getsockname()[1])
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300
        await trio.to_thread.run_sync(thread.join)


async def test_a_server_that_never_ends_a_reply_is_cut_off(hand_in):
    def flood():
        connection, _ = listening.accept()
        with connection, suppress(ConnectionError):
            while True:
                connection.sendall(b"220-more\r\n" * 1000)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=flood)
        thread.start()
        with pytest.raises(Unreachable, match="talks without end"):
            await hand_in(listening.getsockname()[1])
        await trio.to_thread.run_sync(thread.join)


async def test_a_mail_that_was_taken_is_not_lost_by_a_silent_farewell(hand_in, scripted):
    ok = b"250 ok\r\n"
    await hand_in(scripted(b"220 hi\r\n", ok, ok, ok, b"354 go\r\n", ok))


@pytest.mark.parametrize(
    "address",
    [
        "ann@example.org>\r\nRCPT TO:<eve@example.org",
        "ann@example.org> NOTIFY=NEVER",
        "Ann <ann@example.org>",
        "ann@example.org\n",
    ],
)
async def test_more_than_an_address_is_not_sent_as_one(mail_server, hand_in, address):
    server = await mail_server()
    envelope = SmtpEnvelope("fleet@example.net", address, PLAIN.content)
    with pytest.raises(DeliveryRefused):
        await hand_in(server.port, envelope)
    assert (server.attempts, server.left) == (0, 0)


async def test_the_next_address_is_tried_where_one_cannot_be_connected_to(mail_server, authority):
    server = await mail_server()
    account = SmtpAccount(host="mail.example", port=server.port, security="none")
    threads = trio.CapacityLimiter(1)
    await submit(account, ("127.0.0.9", "127.0.0.1"), PLAIN, authority.trusting, threads)
    assert server.left == 1
    with pytest.raises(Unreachable, match="cannot be connected to"):
        await submit(account, ("127.0.0.9",), PLAIN, authority.trusting, threads)


DRIBBLED = [
    ("none", b"", b"220-hi\r\n"),
    ("none", b"220 hi\r\n", b"2"),
    ("tls", b"", b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xf0" + bytes(200)),
    ("none", b"", b""),
]


@pytest.mark.parametrize(("security", "first", "again"), DRIBBLED)
async def test_a_server_that_dribbles_costs_the_deadline_and_no_thread(authority, security, first, again):
    dribbling, gone = threading.Event(), threading.Event()

    def dribble():
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(0.02)
            connection.sendall(first)
            for turn in itertools.count():
                if turn == 5:
                    dribbling.set()
                piece = again[turn % len(again) :][:1] if again else b""
                try:
                    connection.sendall(piece)
                    if connection.recv(1000) == b"":
                        break
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            gone.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=dribble)
        thread.start()
        account = SmtpAccount(host="mail.example", port=listening.getsockname()[1], security=security)
        threads = trio.CapacityLimiter(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit, account, ("127.0.0.1",), PLAIN, authority.trusting, threads)
            assert await trio.to_thread.run_sync(dribbling.wait, 60)
            nursery.cancel_scope.cancel()
        assert nursery.cancel_scope.cancelled_caught
        # The only place is free again as soon as the thread has ended.
        with trio.fail_after(120):
            async with threads:
                assert await trio.to_thread.run_sync(gone.wait, 30)
        await trio.to_thread.run_sync(thread.join)


async def test_a_server_that_does_not_read_keeps_no_thread_after_the_end(authority):
    sending, over = threading.Event(), threading.Event()

    def stop_reading():
        connection, _ = listening.accept()
        with connection:
            for answer in (b"220 hi", b"250 hi", b"250 ok", b"250 ok", b"354 go"):
                connection.sendall(answer + b"\r\n")
                connection.recv(100)
            sending.set()
            over.wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=stop_reading)
        thread.start()
        account = SmtpAccount(host="mail.example", port=listening.getsockname()[1], security="none")
        large = SmtpEnvelope("fleet@example.net", "ann@example.org", b"x\r\n" * 4_000_000)
        threads = trio.CapacityLimiter(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit, account, ("127.0.0.1",), large, authority.trusting, threads)
            await trio.to_thread.run_sync(sending.wait)
            nursery.cancel_scope.cancel()
        with trio.fail_after(120):
            async with threads:
                over.set()
        await trio.to_thread.run_sync(thread.join)


async def test_cancelled_it_leaves_no_connection_behind(authority):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        account = SmtpAccount(host="mail.example", port=listening.getsockname()[1], security="none")
        threads = trio.CapacityLimiter(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit, account, ("127.0.0.1",), PLAIN, authority.trusting, threads)
            connection, _ = await trio.to_thread.run_sync(listening.accept)
            with connection:
                nursery.cancel_scope.cancel()
                connection.settimeout(60)
                with trio.CancelScope(shield=True):
                    assert await trio.to_thread.run_sync(connection.recv, 1) == b""


async def test_cancelled_before_a_thread_is_free_it_leaves_no_connection_behind(authority):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        account = SmtpAccount(host="mail.example", port=listening.getsockname()[1], security="none")
        threads = trio.CapacityLimiter(1)
        async with threads, trio.open_nursery() as nursery:
            nursery.start_soon(submit, account, ("127.0.0.1",), PLAIN, authority.trusting, threads)
            connection, _ = await trio.to_thread.run_sync(listening.accept)
            with connection:
                await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
                connection.settimeout(60)
                with trio.CancelScope(shield=True):
                    assert await trio.to_thread.run_sync(connection.recv, 1) == b""


@pytest.mark.parametrize(("security", "port"), [("none", 25), ("starttls", 587), ("tls", 465)])
def test_the_usual_port_belongs_to_the_kind_of_security(security, port):
    assert SmtpAccount(host="h", security=security).service == ("h", port)
    assert SmtpAccount(host="h", security=security, port=2525).service == ("h", 2525)
