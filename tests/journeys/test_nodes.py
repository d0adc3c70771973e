"""Several server processes of one machine under a supervisor (docs/servers.md#all-cores-of-a-machine)."""

import base64
import contextlib
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from motorpool.bench.server import EMAIL

LIVING = "select count(*) from nodes where state <> 'dead'"


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


def test_two_processes_are_one_server(start_server, connected, eventually):
    settings = {"MOTORPOOL_NODES": "2", "MOTORPOOL_DATABASE": "embedded"}
    with start_server(settings) as server, contextlib.ExitStack() as stack:
        assert len(nodes_of(server)) == 2
        peers = {}
        for number in range(500):
            peer = stack.enter_context(connected(server, f"139{number:08}"))
            pid = eventually(lambda peer=peer: node_at(server, peer.socket.getsockname()[1]))
            peers.setdefault(pid, (f"139{number:08}", peer))
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
        # Its video is asked for at an address of the process that it is connected to.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(client.get, f"/stream/{device['id']}/1/live.m3u8")
            asked = peer.messages(lambda message: hasattr(message, "tcp_port"))[-1]
            listening = {each.laddr.port for each in nodes_of(server)[there].net_connections("tcp")}
            assert asked.tcp_port in listening
            elsewhere = {each.laddr.port for each in nodes_of(server)[here].net_connections("tcp")}
            assert asked.tcp_port not in elsewhere
            peer.close()
            processes = psutil.Process(server.process.pid).children(recursive=True)
            assert len(processes) > 2
            server.process.terminate()
            assert server.process.wait(60) == 0, server.log[-3000:]
        assert not [each for each in processes if each.is_running()]
        assert "has not been seen" not in server.log
        server.start()  # for the end of the block


def reports(server, unique_id, stored, ended):
    """Report once after another until told to end; note the latitude of each report that was acknowledged."""
    count = 0
    url = f"http://{server.host}:{server.osmand_port}/"
    while not ended.is_set():
        latitude = round(40 + count / 10_000, 4)
        values = {"id": unique_id, "lat": latitude, "lon": -8.6, "timestamp": 1_790_000_000 + count}
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, params=values, timeout=60).status_code == 200:
                stored.append((unique_id, latitude))
                count += 1


def test_a_process_that_is_killed_loses_nothing_and_comes_back(start_server, connected, eventually):
    settings = {"MOTORPOOL_NODES": "2", "MOTORPOOL_DATABASE": "embedded"}
    with start_server(settings) as server, contextlib.ExitStack() as stack:
        stored, ended = [], threading.Event()
        pool = stack.enter_context(ThreadPoolExecutor(3))
        stack.callback(ended.set)
        for number in range(3):
            pool.submit(reports, server, f"van{number}", stored, ended)
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
        rows = server.fetch_sql(
            "select d.unique_id, p.latitude from positions p join devices d on d.id = p.device_id"
        )
        assert set(stored) <= {(name, round(float(latitude), 4)) for name, latitude in rows}


def test_nothing_is_left_of_a_supervisor_that_is_killed(start_server, eventually):
    settings = {"MOTORPOOL_NODES": "2", "MOTORPOOL_DATABASE": "embedded"}
    with start_server(settings) as server:
        nodes = list(nodes_of(server).values())
        server.process.kill()
        server.process.wait()
        _, alive = psutil.wait_procs(nodes, timeout=60)
        assert not alive
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((server.host, server.offset))
        # The next one ends the PostgreSQL that was left running.
        server.start()
        assert len(nodes_of(server)) == 2
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 0, server.log[-3000:]
        server.start()  # for the end of the block
