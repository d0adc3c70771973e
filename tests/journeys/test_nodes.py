"""Several server processes of one machine under a supervisor (docs/servers.md#all-cores-of-a-machine)."""

import base64
import contextlib
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pyotp
import pytest

from motorpool.bench.server import EMAIL
from motorpool.codecs.media.jt1078 import MEDIA_PORTS
from motorpool.runtime import SystemClock

SETTINGS = {"MOTORPOOL_NODES": "2", "MOTORPOOL_DATABASE": "embedded"}
LIVING = "select count(*) from nodes where state <> 'dead'"


@pytest.fixture(scope="module")
def server(start_server):
    """One machine for all that does not end it."""
    with start_server(SETTINGS) as running:
        while "Motorpool is running" not in running.log:
            time.sleep(0.05)
        yield running


def nodes_of(server):
    """The server processes of a supervisor, by their process ids."""
    found = {}
    for each in psutil.Process(server.process.pid).children():
        with contextlib.suppress(psutil.Error):
            if "--control" in each.cmdline():
                found[each.pid] = each
    return found


def node_at(server, port):
    """The process id of the server that has accepted the connection from a local port; None if none has."""
    for pid, process in nodes_of(server).items():
        with contextlib.suppress(psutil.Error):
            if any(each.raddr and each.raddr.port == port for each in process.net_connections("tcp")):
                return pid
    return None


@contextlib.contextmanager
def client_at(server, pid):
    """An HTTP client whose connection is at this server process."""
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            client = httpx.Client(base_url=f"{server.url}/api", auth=(EMAIL, server.password), timeout=60)
            stack.enter_context(client)
            with client.stream("GET", "/server") as answer:
                port = answer.extensions["network_stream"].get_extra_info("client_addr")[1]
                answer.read()
            if node_at(server, port) == pid:
                yield client
                return
        raise AssertionError(f"no connection is accepted by {pid}")


def test_two_processes_are_one_server(server, connected, eventually):
    with contextlib.ExitStack() as stack:
        # Of two processes, and of one that replaces another.
        assert server.database_settings()["max_connections"] == str(8 + 32 + 2 * 14)
        peers = {}
        for number in range(500):
            peer = stack.enter_context(connected(server, f"138{number:08}"))
            pid = eventually(lambda peer=peer: node_at(server, peer.socket.getsockname()[1]))
            peers.setdefault(pid, (f"138{number:08}", peer))
            if len(peers) == 2:
                break
        (here, (_, _)), (there, (number, peer)) = peers.items()
        # A command for a device at the other process, which must not wait in a queue.
        client = stack.enter_context(client_at(server, here))
        (device,) = eventually(lambda: client.get("/devices", params={"uniqueId": number}).json())
        text = base64.b16encode(b"\x83\x00\x01HELLO").decode()
        command = {"deviceId": device["id"], "type": "custom", "attributes": {"data": text, "noQueue": True}}
        assert eventually(lambda: client.post("/commands/send", json=command).status_code == 202)
        assert peer.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)
        # Whichever is asked for figures answers with those of both.
        for pid in (here, there):
            with client_at(server, pid) as asked:
                text = eventually(lambda asked=asked: both_in(asked.get("../metrics").text))
            assert "motorpool_processes_wanted 2.0" in text
        # Its video is asked for at an address of the process that it is connected to.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(client.get, f"/stream/{device['id']}/1/live.m3u8")
            asked = peer.messages(lambda message: hasattr(message, "tcp_port"))[-1]
            assert asked.tcp_port in listening(nodes_of(server)[there])
            assert asked.tcp_port not in listening(nodes_of(server)[here])
            # The viewer waits no longer.
            client.close()


def listening(process):
    """The ports of connections that a process accepts or has accepted."""
    return {each.laddr.port for each in process.net_connections("tcp")}


def stored_of(server, prefix):
    """The identities and latitudes of the stored positions of devices whose identities begin so."""
    rows = server.fetch_sql(
        "select d.unique_id, p.latitude from positions p join devices d on d.id = p.device_id"
        f" where d.unique_id like '{prefix}%'"
    )
    return [(name, round(float(latitude), 4)) for name, latitude in rows]


def both_in(figures):
    """The figures, if they are of both processes, whose indices are others once they have been replaced."""
    found = re.findall(r'^motorpool_database_available\{node="\d+"\} 1\.0$', figures, re.MULTILINE)
    return figures if len(found) == 2 else ""


def reports(server, unique_id, stored, ended, failures=None):
    """Report once after another until told to end; note each report that was acknowledged, and failures."""
    count = 0
    url = f"http://{server.host}:{server.osmand_port}/"
    while not ended.is_set():
        latitude = round(40 + count / 10_000, 4)
        values = {"id": unique_id, "lat": latitude, "lon": -8.6, "timestamp": 1_790_000_000 + count}
        try:
            status = httpx.get(url, params=values, timeout=60).status_code
        except httpx.TransportError as error:
            status = repr(error)
        if status == 200:
            stored.append((unique_id, latitude))
            count += 1
        elif failures is not None:
            failures.append(status)


def test_a_process_that_is_killed_loses_nothing_and_comes_back(server, connected, eventually):
    with contextlib.ExitStack() as stack:
        stored, ended = [], threading.Event()
        pool = stack.enter_context(ThreadPoolExecutor(3))
        stack.callback(ended.set)
        for number in range(3):
            pool.submit(reports, server, f"killed{number}", stored, ended)
        peer = stack.enter_context(connected(server, "13900000001"))
        killed = eventually(lambda: node_at(server, peer.socket.getsockname()[1]))
        assert eventually(lambda: len(stored) > 30)
        nodes_of(server)[killed].kill()
        with pytest.raises((AssertionError, OSError), match=r"closed by the server|reset"):
            peer.messages(lambda _: False)
        # The database knows of the death at once, and the device is served by the other one.
        stack.enter_context(connected(server, "13900000001"))
        before = len(stored)
        assert eventually(lambda: len(stored) > before + 30)
        assert eventually(lambda: killed not in nodes_of(server) and len(nodes_of(server)) == 2)
        assert eventually(lambda: server.fetch_sql(LIVING) == [["2"]])
        assert "has not been seen" not in server.log
        assert "was ended by SIGKILL; it is started again" in server.log
        ended.set()
        pool.shutdown()
        assert set(stored) <= set(stored_of(server, "killed"))


def asks(server, path, failures, ended, *, keeps):
    """Ask once after another until told to end, on connections that are kept or not; how often."""
    count = 0
    auth = (EMAIL, server.password)
    headers = {} if keeps else {"Connection": "close"}
    with httpx.Client(base_url=server.url, auth=auth, timeout=60, headers=headers) as client:
        while not ended.is_set():
            try:
                status = client.get(path).status_code
            except httpx.TransportError as error:
                status = repr(error)
            if status != 200:
                failures.append(status)
            count += 1
    return count


def calls(server, number, connected, ended):
    """A terminal that connects again whenever it is sent away; how often it was connected."""
    count = 0
    while not ended.is_set():
        with connected(server, number) as peer:
            count += 1
            peer.socket.settimeout(0.1)
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    if not peer.socket.recv(65536):
                        break
    return count


@pytest.mark.timeout(180)
def test_all_processes_are_replaced_and_nobody_notices(server, connected, eventually):
    with contextlib.ExitStack() as stack:
        assert eventually(lambda: server.fetch_sql(LIVING) == [["2"]])
        restarts = server.log.count("is started again")
        stored, failures, ended = [], [], threading.Event()
        pool = stack.enter_context(ThreadPoolExecutor(8))
        stack.callback(ended.set)
        reporters = [
            pool.submit(reports, server, f"rolled{number}", stored, ended, failures) for number in range(2)
        ]
        askers = [
            pool.submit(asks, server, "/api/health", failures, ended, keeps=keeps)
            for keeps in (True, True, False)
        ]
        terminals = [
            pool.submit(calls, server, f"1390000000{number}", connected, ended) for number in range(3)
        ]
        assert eventually(lambda: len(stored) > 20)
        before = nodes_of(server)
        server.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: "all servers have been replaced" in server.log)
        assert not before.keys() & nodes_of(server).keys()
        assert len(nodes_of(server)) == 2
        count = len(stored)
        assert eventually(lambda: len(stored) > count + 20)
        ended.set()
        pool.shutdown()
        assert failures == []
        assert all(each.result() > 20 for each in askers)
        assert all(each.result() is None for each in reporters)
        # Each was at one of the two processes that have left.
        assert all(each.result() > 1 for each in terminals)
        assert sorted(stored_of(server, "rolled")) == sorted(stored)
        assert server.log.count("is started again") == restarts
        assert "is restarted in" not in server.log


def test_a_one_time_code_is_good_for_one_of_two_processes(server, eventually):
    """Each code is given to both at the same time."""
    eventually(lambda: len(nodes_of(server)) == 2)
    key = pyotp.random_base32()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(client_at(server, pid)) for pid in nodes_of(server)]
        user = {"name": "van", "email": "van@example.org", "password": "four random words"}
        made = clients[0].post("/users", json=user).json()
        answer = clients[0].put(f"/users/{made['id']}", json={**made, "totpKey": key})
        assert answer.status_code == 200, answer.text
        login = {"email": user["email"], "password": user["password"]}
        pool = stack.enter_context(ThreadPoolExecutor(2))
        for step in (-1, 0, 1):
            code = pyotp.TOTP(key).at(SystemClock().now(), counter_offset=step)
            asked = [
                pool.submit(client.post, "/session", data={**login, "code": code}, auth=None)
                for client in clients
            ]
            assert sorted(each.result().status_code for each in asked) == [200, 401]


def test_one_that_is_frozen_delays_figures_by_a_second(server, eventually):
    assert eventually(lambda: server.fetch_sql(LIVING) == [["2"]])
    frozen, other = nodes_of(server).values()
    with client_at(server, other.pid) as client:
        assert eventually(lambda: both_in(client.get("../metrics").text))
        frozen.suspend()
        try:
            # An answer of the last half second may be given again.
            assert eventually(lambda: "motorpool_processes_answering 1.0" in client.get("../metrics").text)
            began = time.monotonic()
            assert "motorpool_processes_wanted 2.0" in client.get("../metrics").text
            assert time.monotonic() - began < 6
        finally:
            frozen.resume()
        # One who reads nothing of them keeps nobody from them.
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                lazy = stack.enter_context(socket.create_connection((server.host, server.offset)))
                lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                lazy.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            assert eventually(lambda: both_in(client.get("../metrics").text))


def test_all_go_on_when_their_postgres_is_killed(server, connected, eventually):
    before = nodes_of(server).keys()
    lines = next(server.folder.rglob("postmaster.pid")).read_text().splitlines()
    psutil.Process(int(lines[0])).kill()
    assert eventually(lambda: server.log.count("PostgreSQL is started again"))
    stored, ended = [], threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(reports, server, "outlived", stored, ended)
        try:
            assert eventually(lambda: len(stored) > 5)
        finally:
            ended.set()
    assert set(stored) <= set(stored_of(server, "outlived"))
    assert eventually(lambda: httpx.get(f"{server.url}/api/health").text == "OK")
    assert nodes_of(server).keys() == before


def test_a_port_of_a_new_process_that_another_program_has_changes_nothing(server, eventually):
    before = nodes_of(server).keys()
    free = server.offset + MEDIA_PORTS["live"]
    with contextlib.ExitStack() as stack:
        for index in range(3):
            with contextlib.suppress(OSError):
                # Where none of the processes is.
                stack.enter_context(socket.create_server((server.host, free + index)))
        times = server.log.count("all others stay")
        server.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: server.log.count("all others stay") > times)
        told = [line for line in server.log.splitlines() if "all others stay" in line][-1]
        assert "cannot listen for jt1078-live on 127.0.0.1:" in told
        assert "the address is in use" in told
    assert nodes_of(server).keys() == before
    assert httpx.get(f"{server.url}/api/health").text == "OK"


@pytest.mark.timeout(180)
def test_settings_are_read_again_and_a_wrong_one_changes_nothing(server, connected, eventually):
    settings = server.folder / "motorpool.toml"
    try:
        before = nodes_of(server).keys()
        settings.write_text("bnid = 1\n")
        server.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: "bnid is no setting; the nearest is bind: all others stay" in server.log)
        assert nodes_of(server).keys() == before
        # What is the supervisor's stays as it is; what is the processes' changes.
        settings.write_text('protocols = ["osmand"]\ndata = "elsewhere"\n[log]\nformat = "json"\n')
        server.process.send_signal(signal.SIGHUP)
        times = server.log.count("all servers have been replaced")
        assert eventually(lambda: server.log.count("all servers have been replaced") > times)
        assert not nodes_of(server).keys() & before
        assert '"level":"info"' in server.log
        assert not (server.folder / "elsewhere").exists()
        with connected(server, "13900000009"):
            assert httpx.get(f"{server.url}/api/health").text == "OK"
    finally:
        settings.unlink()


def test_the_end_is_in_order_in_the_middle_of_a_rolling_restart(start_server, connected, eventually):
    with start_server(SETTINGS) as server:
        with contextlib.ExitStack() as stack:
            for number in range(4):
                stack.enter_context(connected(server, f"1390000001{number}"))
            processes = psutil.Process(server.process.pid).children(recursive=True)
            server.process.send_signal(signal.SIGHUP)
            assert eventually(lambda: "leaving: another server process" in server.log)
            processes += psutil.Process(server.process.pid).children(recursive=True)
            assert len(nodes_of(server)) == 3
            began = time.monotonic()
            server.process.terminate()
            assert server.process.wait(60) == 0, server.log[-3000:]
            # Ten for the processes, the rest for PostgreSQL and a machine that is busy.
            assert time.monotonic() - began < 25
        assert not [each for each in processes if each.is_running()]
        assert "aborted" not in server.log


def test_nothing_is_left_of_a_supervisor_that_is_killed_or_ends(start_server, eventually):
    with start_server(SETTINGS) as server:
        nodes = list(nodes_of(server).values())
        server.process.kill()
        server.process.wait()
        _, alive = psutil.wait_procs(nodes, timeout=60)
        assert not alive
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((server.host, server.offset))
        # The next one ends the PostgreSQL that was left running.
        server.start()
        processes = psutil.Process(server.process.pid).children(recursive=True)
        assert len(nodes_of(server)) == 2
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0, server.log[-3000:]
        assert not [each for each in processes if each.is_running()]
