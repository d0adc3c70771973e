"""Messages to the webhooks of companies: in order for each ticket, and no receiver is another's trouble."""

import json
import re
import secrets
from collections import Counter
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from socket import AF_INET, IPPROTO_TCP, SOCK_STREAM, gaierror

import pytest
import trio

from motorpool.actors.deliveries import OutgoingServices, lane_sender
from motorpool.actors.deliveries.webhook import sign
from motorpool.actors.deliveries.webhook_schedule import DELAYS_SECONDS
from motorpool.actors.helpdesk import webhook_lane, webhook_sender
from motorpool.actors.helpdesk.webhook_sender import KEPT, WebhookSender
from motorpool.actors.messages.tickets import WEBHOOK_SENDER, TicketMessagesWaiting
from motorpool.actors.messages.topics import DELIVERIES_STOPPED
from motorpool.runtime import ChildSpec
from motorpool.storage.accounts import users
from motorpool.storage.deliveries import outbox, receivers, ticket_log
from motorpool.storage.deliveries.outbox import TICKETS, TicketMessage
from motorpool.storage.records import User

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SECRET = "my-existing-plain-secret"
AFTER = 1.3
"""Times a delay: more than it with its random part."""


@pytest.fixture
def make_company(database):
    async def make(url, **webhook):
        return await database.fetch_value(
            "insert into companies (name, attributes) values ('Acme', $1) returning id",
            {"ticketWebhook": {"url": url, "secret": SECRET, **webhook}},
        )

    return make


@pytest.fixture
def put(database):
    """`await put(company, 7, 1, 2)`: messages of ticket 7 with these numbers."""

    async def enqueue(company, ticket, *numbers, now=NOW):
        rows = [
            TicketMessage(company, ticket, number, "ticket.updated", json.dumps([ticket, number]))
            for number in numbers
        ]
        async with database.transaction() as transaction:
            await outbox.enqueue_for_companies(transaction, rows, now=now)

    return enqueue


@pytest.fixture
def states(database, until):
    """`await states(waiting=2)`: until so many messages are in each state, and their attempts are noted."""

    async def wait(**expected):
        async def noted():
            rows = await database.fetch("select state, count(*) from deliveries group by state")
            return {row[0]: row[1] for row in rows} == expected

        await until(noted)

    return wait


@pytest.fixture
def attempts(database, until):
    """`await attempts(2, 0)`: until the messages have so many attempts, by their ids."""

    async def wait(*numbers):
        async def noted():
            rows = await database.fetch("select attempts from deliveries order by id")
            return [row[0] for row in rows] == list(numbers)

        await until(noted)

    return wait


@pytest.fixture
def edit(database):
    """`await edit(company, url=…)`: what the company's webhook is from now on."""

    async def change(company, **webhook):
        await database.execute(
            "update companies set attributes = jsonb_build_object('ticketWebhook',"
            " attributes -> 'ticketWebhook' || $2::jsonb) where id = $1",
            company,
            webhook,
        )

    return change


@pytest.fixture
async def resolve():
    """`resolve({"a.example": "127.0.0.1"}, afterwards={…})`: answers to the first and to later questions."""

    class Names(trio.abc.HostnameResolver):
        def __init__(self, first, others):
            self.first, self.others, self.questions = first, others, []

        async def getaddrinfo(self, host, port, *_, **__):
            name = host.decode() if isinstance(host, bytes) else host
            known = self.others if name in self.questions else self.first
            self.questions.append(name)
            if name not in known:
                raise gaierror("no such name")
            return [(AF_INET, SOCK_STREAM, IPPROTO_TCP, "", (known[name], port))]

        async def getnameinfo(self, sockaddr, flags):
            raise NotImplementedError

    def use(first, afterwards=None):
        names = Names(first, afterwards or first)
        trio.socket.set_custom_hostname_resolver(names)
        return names.questions

    yield use
    trio.socket.set_custom_hostname_resolver(None)


class Counted:
    """Webhooks that tell how many messages are being sent."""

    def __init__(self, webhooks):
        self.webhooks = webhooks
        self.sending = 0

    @asynccontextmanager
    async def session(self):
        async with self.webhooks.session() as session:
            yield CountedSession(self, session)


class CountedSession:
    def __init__(self, counted, session):
        self.counted, self.session = counted, session

    async def post(self, *args, **fields):
        self.counted.sending += 1
        try:
            return await self.session.post(*args, **fields)
        finally:
            self.counted.sending -= 1


async def is_idle():
    return OUTGOING.ticket_webhooks.sending == 0


async def is_sending():
    return OUTGOING.ticket_webhooks.sending > 0


OUTGOING = OutgoingServices(allow=("127.0.0.0/8",), version="8")
OUTGOING.ticket_webhooks = Counted(OUTGOING.ticket_webhooks)


@pytest.fixture
def passes(time, until):
    """`await passes(60, step=6)`: let time pass, but never while a message is being sent."""

    async def wait(seconds, step=None):
        left = seconds
        while left > 1e-9:
            await until(is_idle)
            await time.passes(min(left, step or seconds))
            left -= step or seconds

    return wait


@pytest.fixture
def seldom(monkeypatch):
    """The sender looks for messages of other servers, and for old ones, every hour: there are none."""
    monkeypatch.setattr(lane_sender, "POLL_SECONDS", 3600.0)
    monkeypatch.setattr(webhook_sender, "CLEAN_SECONDS", 3600.0)


def sender(database):
    holder = secrets.token_hex(8)
    return ChildSpec(kind=WEBHOOK_SENDER, factory=lambda: WebhookSender(database, OUTGOING, holder, 30))


def bodies(server):
    return [json.loads(asked.body) for asked in server.asked]


def failing(*answers, then=200):
    """Answers of these statuses first."""
    left = list(answers)
    return lambda _: (left.pop(0) if left else then, b"")


async def test_messages_of_a_ticket_arrive_in_order_and_signed(
    database, tree, web_server, make_company, put, states
):
    server = web_server()
    company = await make_company(server.url)
    for ticket in (7, 8, 9):
        await put(company, ticket, *range(1, 21))
    async with tree(sender(database)):
        await states(delivered=60)
    for ticket in (7, 8, 9):
        assert [number for at, number in bodies(server) if at == ticket] == list(range(1, 21))
    for asked in server.asked:
        name, timestamp = asked.headers["webhook-id"], int(asked.headers["webhook-timestamp"])
        assert asked.headers["webhook-signature"] == sign((SECRET,), name, timestamp, asked.body)
        assert asked.headers["Content-Type"] == "application/json"
        assert asked.headers["User-Agent"] == "motorpool/8"
        assert re.fullmatch(rf"msg_{company}_\d+", name)
    assert len({asked.headers["webhook-id"] for asked in server.asked}) == 60


async def test_new_messages_are_sent_when_the_sender_is_woken(
    database, tree, time, web_server, make_company, put, states
):
    server = web_server()
    company = await make_company(server.url)
    async with tree(sender(database)) as system:
        for number in (1, 2, 3):
            await put(company, 7, number)
            system.ref(WEBHOOK_SENDER).tell_nowait(TicketMessagesWaiting(frozenset({company})))
            await states(delivered=number)


async def test_after_an_orderly_stop_no_message_waits_for_the_end_of_the_lease(
    database, tree, web_server, make_company, put, states
):
    server = web_server()
    company = await make_company(server.url)
    await put(company, 7, 1)
    async with tree(sender(database)):
        # The turn then waits for more, and no time passes.
        await states(delivered=1)
    await put(company, 7, 2)
    async with tree(sender(database)):
        await states(delivered=2)


async def test_a_failure_holds_back_later_messages_of_the_ticket_and_no_others(
    database, tree, time, passes, web_server, make_company, put, attempts
):
    answers = {7: [500, 503]}

    def answer(asked):
        ticket, _ = json.loads(asked.body)
        left = answers.get(ticket)
        return (left.pop(0) if left else 200), b""

    server, other = web_server(answer), web_server()
    company = await make_company(server.url)
    await put(company, 7, 1, 2)
    await put(company, 8, 1)
    await put(await make_company(other.url), 9, 1)
    async with tree(sender(database)):
        await attempts(1, 0, 1, 1)
        assert sorted(bodies(server)) == [[7, 1], [8, 1]]
        await passes(AFTER * DELAYS_SECONDS[0])
        await attempts(2, 0, 1, 1)
        await passes(AFTER * DELAYS_SECONDS[1])
        await attempts(3, 1, 1, 1)
    assert [each for each in bodies(server) if each[0] == 7] == [[7, 1], [7, 1], [7, 1], [7, 2]]
    ids = [asked.headers["webhook-id"] for asked in server.asked if json.loads(asked.body) == [7, 1]]
    assert len(set(ids)) == 1


async def test_a_message_that_failed_three_times_is_overtaken(
    database, tree, time, passes, web_server, make_company, put, attempts
):
    server = web_server(lambda asked: (422 if json.loads(asked.body) == [7, 1] else 200, b""))
    company = await make_company(server.url)
    await put(company, 7, 1, 2, 3)
    async with tree(sender(database)):
        for number in (1, 2):
            await attempts(number, 0, 0)
            await passes(AFTER * DELAYS_SECONDS[number - 1])
        await attempts(3, 1, 1)
    assert bodies(server) == [[7, 1], [7, 1], [7, 1], [7, 2], [7, 3]]


async def test_retry_after_is_obeyed(database, tree, time, passes, web_server, make_company, put, attempts):
    server = web_server(failing(429))
    server.headers["Retry-After"] = "3600"
    company = await make_company(server.url)
    await put(company, 7, 1)
    async with tree(sender(database)) as system:
        await attempts(1)
        # Another ticket's message waits as well: the receiver is asked to be left alone.
        await put(company, 8, 1)
        system.ref(WEBHOOK_SENDER).tell_nowait(TicketMessagesWaiting(frozenset({company})))
        await passes(3540, step=60)
        assert len(server.asked) == 1
        await passes(90, step=30)
        await attempts(2, 1)


async def test_after_five_failures_one_message_is_tried_at_a_time(
    database, tree, time, seldom, passes, web_server, make_company, put, until, states
):
    up = []
    server = web_server(lambda _: (200 if up else 500, b""))
    company = await make_company(server.url)
    for ticket in range(100, 140):
        await put(company, ticket, 1)

    async def failures():
        """Until all that were asked have failed; return their number."""

        async def noted():
            found = await database.fetch_value("select max(failures) from receivers")
            return found is not None and found > probes and found == len(server.asked)

        await until(noted)
        return len(server.asked)

    probes = 4
    async with tree(sender(database)):
        # Those that were being sent at the same time as the fifth end as well.
        first = await failures()
        assert 5 <= first <= 8
        probes = first
        for _ in range(4):
            await passes(AFTER * DELAYS_SECONDS[min(probes - 5, 8)], step=1800)
            before, probes = probes, await failures()
            assert probes <= max(before, 8) + 2
        used = [row[0] for row in await database.fetch("select attempts from deliveries")]
        # The others have used up no attempts.
        assert sum(used) == probes
        assert used.count(0) >= 40 - probes
        up.append(True)
        await passes(AFTER * DELAYS_SECONDS[min(probes - 5, 8)], step=1800)
        await states(delivered=40)
    assert {tuple(each) for each in bodies(server)} == {(ticket, 1) for ticket in range(100, 140)}


async def test_a_receiver_that_is_gone_is_disabled_and_its_managers_notified(
    database, tree, time, passes, web_server, make_company, put, edit, until, states
):
    server = web_server(failing(410))
    company = await make_company(server.url)
    boss = await users.TABLE.insert(database, User(name="boss", email="boss@example.org"))
    other = await users.TABLE.insert(database, User(name="other", email="other@example.org"))
    for user, manager in ((boss, True), (other, False)):
        await database.execute("insert into user_company values ($1, $2, $3)", user.id, company, manager)
    await put(company, 7, 1, 2)

    async def disabled():
        return await database.fetch_value(
            "select (attributes #> '{ticketWebhook,disabled}')::boolean from companies"
        )

    async with (
        tree(sender(database)) as system,
        system.topic(DELIVERIES_STOPPED).subscribe() as published,
    ):
        await until(disabled)
        (notice,) = await published.receive_batch()
        assert (notice.type, notice.user_ids) == ("ticketWebhookDisabled", {boss.id})
        assert notice.attributes == {"company": "Acme", "reason": "the receiver answers 410"}
        webhook = await database.fetch_value("select attributes -> 'ticketWebhook' from companies")
        assert (webhook["disabledAt"], webhook["disabledReason"]) == (
            "2026-06-15T12:00:00Z",
            notice.attributes["reason"],
        )
        (action,) = await database.fetch("select object_type, object_id, attributes from audit")
        assert (action[0], action[1]) == ("company", company)
        assert SECRET not in json.dumps(action[2])
        # Nothing is sent any more, but kept.
        await put(company, 7, 3)
        system.ref(WEBHOOK_SENDER).tell_nowait(TicketMessagesWaiting(frozenset({company})))
        await passes(3 * 86400, step=6 * 3600)
        assert bodies(server) == [[7, 1]]
        # After 7 days what waits is dropped, and counted. What is younger follows in its order.
        await put(company, 7, 4, 5, now=NOW + timedelta(days=3))
        await passes((KEPT - timedelta(days=2)).total_seconds(), step=6 * 3600)
        await edit(company, disabled=False)
        await passes(60, step=30)
        await states(dropped=3, delivered=2)
        assert bodies(server)[1:] == [[7, 4], [7, 5]]
        assert await database.fetch_value("select dropped from receivers") == 3


async def test_a_receiver_that_fails_for_three_days_is_disabled(
    database, tree, time, seldom, passes, web_server, make_company, put, until
):
    server = web_server(lambda _: (500, b"out of order"))
    company = await make_company(server.url)
    for ticket in range(7, 19):
        await put(company, ticket, 1)
    disabled_after = None
    async with tree(sender(database)):
        for hours in range(6, 24 * 7, 6):
            await passes(6 * 3600, step=1800)
            if await database.fetch_value("select attributes #> '{ticketWebhook,disabled}' from companies"):
                disabled_after = hours
                break
    assert disabled_after is not None
    assert 72 <= disabled_after <= 72 + 36
    (state,) = await database.fetch("select failures, since, paused from receivers")
    assert state["failures"] >= 10
    assert state["paused"] - state["since"] >= timedelta(hours=72)
    # Nothing was given up.
    assert await database.fetch_value("select count(*) from deliveries where state = 'waiting'") == 12


async def test_url_and_secrets_are_those_of_the_attempt(
    database, tree, time, passes, web_server, make_company, put, edit, attempts
):
    old, new = web_server(lambda _: (500, b"")), web_server()
    company = await make_company(old.url)
    await put(company, 7, 1)
    async with tree(sender(database)):
        await attempts(1)
        until_then = "2026-06-16T12:00:00Z"
        fresh = {"secret": "another plain secret", "previousSecret": SECRET, "previousUntil": until_then}
        await edit(company, url=new.url, **fresh)
        await passes(AFTER * DELAYS_SECONDS[0])
        await attempts(2)
        # A day after, the secret before signs no more.
        await passes(86400, step=3600)
        await put(company, 7, 2, now=NOW + timedelta(days=1))
        await passes(60, step=30)
        await attempts(2, 1)
    both, alone = (asked.headers["webhook-signature"] for asked in new.asked)
    assert len(both.split(" ")) == 2
    assert len(alone.split(" ")) == 1


async def test_what_waits_for_a_webhook_that_was_removed_is_dropped(
    database, tree, make_company, put, states
):
    company = await make_company("https://example.org")
    await put(company, 7, 1, 2)
    await database.execute("update companies set attributes = '{}' where id = $1", company)
    async with tree(sender(database)):
        await states(dropped=2)
    assert await database.fetch_value("select dropped from receivers") == 2


async def test_four_messages_of_a_company_are_sent_at_the_same_time(
    database, tree, make_company, put, states, nursery
):
    sending, most, per_company = Counter(), Counter(), {}
    released = trio.Event()

    async def serve(stream):
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some(65536)
        company = head.split()[1]
        sending[company] += 1
        most[company] = max(most[company], sending[company])
        await released.wait()
        sending[company] -= 1
        await stream.send_all(b"HTTP/1.1 204 No Content\r\n\r\n")
        await stream.aclose()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    for name in ("a", "b"):
        per_company[name] = await make_company(f"http://127.0.0.1:{port}/{name}")
        for ticket in range(10):
            await put(per_company[name], ticket + (100 if name == "b" else 0), 1)
    async with tree(sender(database)):
        while sum(sending.values()) < 8:
            await trio.testing.wait_all_tasks_blocked(0.001)
        released.set()
        await states(delivered=20)
    assert most == {b"/a": 4, b"/b": 4}


async def test_a_receiver_that_does_not_answer_takes_no_turn_from_others(
    database, tree, make_company, put, states, nursery, monkeypatch
):
    monkeypatch.setattr(webhook_lane.TicketWebhookLane, "max_sending", 5)
    asked = Counter()

    async def serve(stream):
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some(65536)
        company = head.split()[1]
        asked[company] += 1
        if company == b"/slow":
            await trio.sleep_forever()
        await stream.send_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await stream.aclose()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    for place, name in enumerate(("slow", "quick")):
        company = await make_company(f"http://127.0.0.1:{port}/{name}")
        for ticket in range(20):
            await put(company, 100 * place + ticket + 1, 1)
    async with tree(sender(database)):
        await states(waiting=20, delivered=20)
        assert asked == {b"/slow": 4, b"/quick": 20}


async def test_the_log_tells_what_happened(
    database, tree, time, passes, web_server, hanging_port, resolve, make_company, put, edit, attempts, until
):
    server = web_server(lambda _: (500, b"\0diagnostics " + b"x" * 5000))
    elsewhere = web_server()
    server.headers["Location"] = elsewhere.url
    resolve({"hook.example": "127.0.0.1"})
    company = await make_company(server.url)
    await put(company, 7, 1)
    urls = (
        "http://10.0.0.1/",
        "http://127.0.0.1:1/",
        "http://unknown.example/",
        f"https://hook.example:{server.port}/",
        f"http://127.0.0.1:{hanging_port}/",
    )
    async with tree(sender(database)):
        await attempts(1)
        for number, url in enumerate(urls):
            await edit(company, url=url)
            await passes(AFTER * DELAYS_SECONDS[number])
            if str(hanging_port) in url:
                await until(is_sending)
                await time.passes(15)
            await attempts(number + 2)
        server.headers.clear()
    (delivery,) = await ticket_log.page(database, company, limit=10)
    assert [(each.error, each.status, each.address) for each in delivery.attempts] == [
        ("status", 500, "127.0.0.1"),
        ("blocked", None, ""),
        ("connect", None, "127.0.0.1"),
        ("dns", None, ""),
        ("tls", None, "127.0.0.1"),
        ("timeout", None, "127.0.0.1"),
    ]
    assert delivery.attempts[0].answer.startswith("\ufffddiagnostics xxx")
    assert len(delivery.attempts[0].answer) == 1024
    assert (delivery.state, delivery.reason) == ("waiting", "timeout")
    assert delivery.next_attempt is not None
    assert elsewhere.asked == []


async def test_the_log_is_kept_for_thirty_days(
    database, tree, time, passes, web_server, make_company, put, states
):
    company = await make_company(web_server().url)
    await put(company, 7, 1)

    async def logged():
        rows = await database.fetch(
            "select (select count(*) from deliveries), (select count(*) from delivery_attempts)"
        )
        return tuple(rows[0].values())

    async with tree(sender(database)):
        await states(delivered=1)
        await passes(30 * 86400 - 600, step=86400)
        assert await logged() == (1, 1)
        await passes(1200, step=300)
        assert await logged() == (0, 0)


async def test_of_too_many_messages_the_oldest_are_dropped(
    database, tree, time, passes, make_company, put, states, monkeypatch
):
    monkeypatch.setattr(webhook_sender, "MAX_WAITING", 3)
    company = await make_company("https://example.org", disabled=True)
    await put(company, 7, 1, 2, 3, 4, 5)
    async with tree(sender(database)):
        await states(waiting=3, dropped=2)
        waiting = await database.fetch("select sequence from deliveries where state = 'waiting'")
        assert sorted(row[0] for row in waiting) == [3, 4, 5]
        assert await database.fetch_value("select dropped from receivers") == 2
        monkeypatch.setattr(webhook_sender, "MAX_LOGGED", 4)
        await passes(300)
        await states(waiting=3, dropped=1)


async def test_redirects_are_failures_and_not_followed(
    database, tree, web_server, make_company, put, attempts
):
    elsewhere = web_server()
    server = web_server(lambda _: (307, b""))
    server.headers["Location"] = elsewhere.url
    company = await make_company(server.url)
    await put(company, 7, 1)
    async with tree(sender(database)):
        await attempts(1)
    assert (len(server.asked), elsewhere.asked) == (1, [])


async def test_an_endless_answer_is_read_to_its_limit(database, tree, make_company, put, states, nursery):
    async def serve(stream):
        await stream.receive_some(65536)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")
        with suppress(trio.BrokenResourceError):
            while True:
                await stream.send_all(b"x" * 65536)

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    port = listeners[0].socket.getsockname()[1]
    company = await make_company(f"http://127.0.0.1:{port}/")
    await put(company, 7, 1, 2)
    async with tree(sender(database)):
        await states(delivered=2)


async def test_the_connection_goes_to_the_address_that_was_checked(
    database, tree, web_server, resolve, make_company, put, states
):
    """Its name server gives another answer to each question: the second would be a private network."""
    server = web_server()
    questions = resolve({"hook.example": "127.0.0.1"}, afterwards={"hook.example": "10.0.0.1"})
    company = await make_company(f"http://hook.example:{server.port}/")
    await put(company, 7, 1)
    async with tree(sender(database)):
        await states(delivered=1)
    assert questions == ["hook.example"]
    assert server.asked[0].headers["Host"] == f"hook.example:{server.port}"


async def test_the_companies_lease_keeps_other_servers_away(database, make_company):
    company = await make_company("https://example.org")
    minute = timedelta(seconds=60)
    mine = await receivers.acquire(database, TICKETS, company, "one", now=NOW, until=NOW + minute)
    assert (mine.attributes["ticketWebhook"]["secret"], mine.failures) == (SECRET, 0)
    assert await receivers.acquire(database, TICKETS, company, "two", now=NOW, until=NOW + minute) is None
    later = NOW + minute
    assert await receivers.acquire(database, TICKETS, company, "two", now=later, until=later + minute)
    assert await receivers.acquire(database, TICKETS, company, "one", now=later, until=later + minute) is None
    await receivers.release(database, TICKETS, company, "one")
    assert await receivers.acquire(database, TICKETS, company, "one", now=later, until=later + minute) is None
    await receivers.release(database, TICKETS, company, "two")
    assert await receivers.acquire(database, TICKETS, company, "one", now=later, until=later + minute)
    assert await receivers.acquire(database, TICKETS, 999, "one", now=NOW, until=NOW + minute) is None
