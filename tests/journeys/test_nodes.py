"""Several server processes of one machine under a supervisor (docs/servers.md#all-cores-of-a-machine)."""

import base64
import contextlib
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from motorpool.bench.server import EMAIL

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
    """The figures, if they are of both processes."""
    names = [f'motorpool_database_available{{node="{index}"}} 1.0' for index in range(2)]
    return figures if all(name in figures for name in names) else ""


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
