"""A whole server whose PostgreSQL is gone, takes no changes, lets nobody in, stands still, or is killed."""

import os
import queue
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
import trio
from tests.journeys.noticed import Log, Reporter, banner_of, measured

from motorpool.bench.cluster.relay import SOCKET, Relay

PHONE = "13966600011"
OTHER_PHONE = "13966600012"


@pytest.fixture
def limited_url(postgres, database_url):
    """The URL of the database for a user whose connections can be limited: not a superuser."""
    name = database_url.rpartition("/")[2].partition("?")[0]
    postgres.run(f"create role {name} login in role motorpool")
    yield database_url.replace("motorpool@", f"{name}@")
    postgres.run(f"reassign owned by {name} to motorpool", name)
    postgres.run(f"drop role {name}")


GONE = "the database cannot be reached now"


def outages(name):
    """By name: what to do to the database called `name`, how to undo it, and what users are told."""
    return {
        "gone": (
            f"alter database {name} with allow_connections false",
            f"alter database {name} with allow_connections true",
            GONE,
        ),
        "read-only": (
            f"alter database {name} set default_transaction_read_only = on",
            f"alter database {name} reset default_transaction_read_only",
            "the database is read-only now",
        ),
        "too many connections": (
            f"alter role {name} connection limit 0",
            f"alter role {name} connection limit -1",
            "the database takes no more connections",
        ),
    }


@pytest.mark.parametrize("kind", outages(""))
def test_an_outage_is_said_once_refused_with_its_reason_and_loses_nothing(
    kind, postgres, limited_url, start_server, connected, eventually
):
    name = limited_url.rpartition("/")[2].partition("?")[0]
    change, back, reason = outages(name)[kind]
    with (
        start_server({"MOTORPOOL_DATABASE": limited_url}) as server,
        server.client() as client,
        connected(server, PHONE) as peer,
        banner_of(server, client) as banner,
    ):
        reporter, log = Reporter(peer), Log(server)
        for _ in range(3):
            reporter.report()
        group = client.post("/groups", json={"name": "North"}).json()
        postgres.run(change)
        try:
            postgres.run(
                "select count(pg_terminate_backend(pid, 30000)) from pg_stat_activity"
                f" where usename = '{name}'"
            )
            banner.wait("database", text=reason)
            for number in range(30):
                answer = client.put(f"/groups/{group['id']}", json={**group, "name": f"North {number}"})
                health = client.get("/health")
                assert (answer.status_code, health.status_code) == (503, 500)
                assert {answer.text, health.text} == {reason}
                assert int(answer.headers["Retry-After"]) >= 1
                reporter.send()
            assert measured(server) == {"database"}
            reads = 200 if kind == "read-only" else 503
            assert {client.get(path).status_code for path in ("/devices", "/session")} == {reads}
            if kind != "read-only":
                device = {"id": "phone", "lat": 1, "lon": 2}
                answer = httpx.get(f"http://{server.host}:{server.osmand_port}/", params=device)
                assert answer.status_code == 503
                assert int(answer.headers["Retry-After"]) >= 1
            reporter.check_unanswered()
        finally:
            postgres.run(back)
        banner.wait()
        reporter.wait()
        assert client.get("/health").status_code == 200
        assert measured(server) == set()
        assert [each["name"] for each in client.get("/groups").json()] == ["North"]
        reporter.check_stored(client, PHONE)
        log.check(database=r"^the database (cannot be reached|is read-only|takes no more connections)")


def processes_of(server):
    """The processes of the embedded PostgreSQL."""
    lines = next(Path(server.folder).rglob("postmaster.pid")).read_text().splitlines()
    postmaster = psutil.Process(int(lines[0]))
    return [postmaster, *postmaster.children(recursive=True)]


def send(processes, number):
    for process in processes:
        os.kill(process.pid, number)


def test_a_database_that_stands_still_or_is_killed_costs_nothing_but_time(
    start_server, connected, eventually
):
    settings = {"MOTORPOOL_DATABASE": "embedded"}
    silent = "the database does not answer in time"
    with (
        start_server(settings) as server,
        server.client() as client,
        connected(server, PHONE) as peer,
        banner_of(server, client) as banner,
    ):
        reporter, log = Reporter(peer), Log(server)
        reporter.report()
        stopped = processes_of(server)
        send(stopped, signal.SIGSTOP)
        try:
            banner.wait("database")
            for _ in range(30):
                # Nobody waits for what is known not to come.
                for answer in (client.get("/devices"), client.post("/groups", json={"name": "North"})):
                    assert (answer.status_code, answer.text) == (503, silent)
                    assert int(answer.headers["Retry-After"]) >= 1
                health = client.get("/health")
                assert (health.status_code, health.text) == (500, silent)
                reporter.send()
            assert measured(server) == {"database"}
            reporter.check_unanswered()
        finally:
            send(stopped, signal.SIGCONT)
        banner.wait()
        reporter.wait()
        log.check(database=f"^{silent}: ")

        log = Log(server)
        for _ in range(20):
            reporter.send()
        send(processes_of(server), signal.SIGKILL)
        for _ in range(20):
            reporter.send()
        reporter.wait()
        eventually(lambda: client.get("/health").status_code == 200)
        banner.wait()
        log.check(database="^the database cannot be reached now: ")
        reporter.check_stored(client, PHONE)


def test_a_table_that_is_locked_keeps_positions_waiting_and_says_so(
    postgres, database_url, start_server, connected, eventually
):
    settings = {"MOTORPOOL_DATABASE": database_url, "MOTORPOOL_POSTGRES_STATEMENT_SECONDS": "3"}
    with (
        start_server(settings) as server,
        server.client() as client,
        connected(server, PHONE) as peer,
        banner_of(server, client) as banner,
    ):
        reporter, log = Reporter(peer), Log(server)
        reporter.report()
        lock = "begin; lock table positions in access exclusive mode; select pg_sleep(600)"
        locking = threading.Thread(target=run_until_ended, args=(server, lock))
        locking.start()
        found = "from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()"
        try:
            eventually(lambda: postgres.run(f"select wait_event = 'PgSleep' {found}") == "True")
            reporter.send()
            banner.wait("positions")
            health = client.get("/health")
            assert (health.status_code, health.text) == (500, "positions cannot be stored now")
            assert measured(server) == {"positions"}
            # All else goes on.
            assert client.post("/groups", json={"name": "North"}).status_code == 200
            reporter.check_unanswered()
        finally:
            postgres.run(f"select count(pg_terminate_backend(pid)) {found}")
            locking.join()
        reporter.wait()
        banner.wait()
        assert client.get("/health").status_code == 200
        reporter.check_stored(client, PHONE)
        log.check(positions="^positions wait ")


def run_until_ended(server, sql):
    """Run SQL in a session that somebody ends."""
    with pytest.raises(Exception, match="terminating connection"):
        server.run_sql(sql)


@contextmanager
def relayed(folder, target):
    """Pass connections to the socket in `target` on from one in `folder`; yield `cut` and `mend`."""
    running = queue.Queue()

    async def pass_on():
        relay = Relay(folder / SOCKET, target / SOCKET)
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(relay.run)
                running.put((relay, trio.lowlevel.current_trio_token(), scope))

    thread = threading.Thread(target=trio.run, args=(pass_on,))
    thread.start()
    relay, token, scope = running.get()
    try:
        yield lambda: token.run_sync_soon(relay.cut), lambda: token.run_sync_soon(relay.mend)
    finally:
        token.run_sync_soon(relay.mend)
        token.run_sync_soon(scope.cancel)
        thread.join()


def test_a_server_that_loses_the_database_leaves_its_devices_to_the_other(
    postgres, database_url, open_folder, start_server, connected, eventually
):
    settings = {"MOTORPOOL_CLUSTER_NAME": "north", "MOTORPOOL_NODE_ADDRESS": "http://127.0.0.1:0"}
    target = postgres.server.socket_folder
    relayed_url = database_url.replace(str(target).replace("/", "%2F"), str(open_folder).replace("/", "%2F"))
    assert relayed_url != database_url
    with (
        start_server({**settings, "MOTORPOOL_DATABASE": database_url}) as whole,
        whole.client() as client,
        relayed(open_folder, target) as (cut, mend),
        start_server({**settings, "MOTORPOOL_DATABASE": relayed_url}) as lonely,
        connected(lonely, PHONE) as staying,
        connected(lonely, OTHER_PHONE) as leaving,
    ):
        for peer in (staying, leaving):
            Reporter(peer).report()
        begin = len(lonely.log)
        cut()

        def health(server):
            with suppress(httpx.TransportError):
                answer = httpx.get(f"{server.url}/api/health", timeout=60)
                return answer.status_code, answer.text

        eventually(lambda: health(lonely) == (500, "the database does not answer in time"))
        eventually(lambda: measured(lonely) == {"database"})
        answer = httpx.get(f"{lonely.url}/api/devices", auth=("any", "body"), timeout=60)
        assert (answer.status_code, answer.text) == (503, "the database does not answer in time")
        unheard = Reporter(staying)
        unheard.send()
        # The other one works on, and takes the devices that come to it.
        with connected(whole, OTHER_PHONE) as arrived:
            moved = Reporter(arrived)
            for _ in range(20):
                moved.report()
                assert health(whole) == (200, "OK")
            eventually(lambda: "it is dead" in whole.log)
            unheard.check_unanswered()
            assert measured(whole) == set()
            mend()
            # The one that was taken for dead has to begin anew.
            eventually(lambda: lonely.process.poll() is not None)
            assert "it starts anew" in lonely.log
            said = [line for line in lonely.log[begin:].splitlines() if "runtime.conditions" in line]
            assert 1 <= len(said) <= 2, said
            lonely.start()
            with connected(lonely, PHONE) as again:
                Reporter(again).report()
            moved.report()
            moved.check_stored(client, OTHER_PHONE, earlier=1)
        assert "runtime.conditions" not in whole.log
