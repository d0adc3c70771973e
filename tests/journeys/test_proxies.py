"""Servers behind HAProxy, nginx and Caddy, by the files in deploy/: what users and devices do through them,
addresses, limits, and the end of a server (docs/servers.md#behind-a-proxy).
"""

import contextlib
import json
import re
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import httpx
import m3u8
import pytest
import trio
from tests.journeys.proxies import (
    DEPLOY,
    NAME,
    PATIENCE,
    make_certificate,
    needs_proxies,
    run_caddy,
    run_haproxy,
    run_nginx,
    run_nginx_cluster,
)
from tests.journeys.test_two_servers import KEYFRAME
from trio_websocket import wrap_client_stream

from motorpool.bench.server import EMAIL
from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoRequest
from motorpool.codecs.devices import CODECS
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078 import MEDIA_PORTS
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import SystemClock

ELSEWHERE = "127.0.0.2"
"""Where devices and users call from; the proxies call from 127.0.0.1."""
PROXIES = {
    "haproxy.cfg": run_haproxy,
    "nginx-cluster.conf": run_nginx_cluster,
    "nginx.conf": run_nginx,
    "Caddyfile": run_caddy,
}
OF_DEVICES = ["haproxy.cfg", "nginx-cluster.conf"]
"""Those that stand in front of the ports of devices as well."""
OF_HTTP_2 = ["nginx.conf", "Caddyfile"]
BODY_BYTES = 16 << 20
BEHIND = {
    "MOTORPOOL_CLUSTER_NAME": "north",
    "MOTORPOOL_HTTP_TRUSTED_PROXIES": "127.0.0.1/32",
    "MOTORPOOL_DEVICE_PROXY_PROTOCOL": "true",
    "MOTORPOOL_DEVICE_TRUSTED_PROXIES": "127.0.0.1/32",
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A PEM file with a certificate and its key."""
    path = tmp_path_factory.mktemp("proxy") / "fleet.pem"
    path.write_bytes(b"".join(make_certificate()))
    return path


@pytest.fixture(scope="module")
def servers(start_server, postgres):
    """Two servers of a cluster, for all proxies."""
    name = postgres.take()
    settings = {
        **BEHIND,
        "MOTORPOOL_DATABASE": postgres.server.url(name),
        "MOTORPOOL_NODE_ADDRESS": "http://127.0.0.1:0",
        "MOTORPOOL_PUBLIC_URL": f"https://{NAME}",
        "MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1",
    }
    with start_server(settings) as one, start_server(settings) as other:
        yield one, other
    postgres.give_back(name)


@pytest.fixture
def behind(servers, certificate, tmp_path):
    """`with behind("nginx.conf") as proxy:` a proxy in front of the servers."""

    def start(name):
        # The workers of nginx may run as another user.
        tmp_path.chmod(0o755)
        shared = servers if name in OF_DEVICES else servers[:1]
        return PROXIES[name](*shared, certificate, tmp_path)

    return start


@needs_proxies
@pytest.mark.parametrize("name", PROXIES)
def test_users_are_served_through_it(servers, behind, name, eventually):
    one, _ = servers
    http2 = name in OF_HTTP_2
    with behind(name) as proxy, proxy.client(local_address=ELSEWHERE, http2=http2) as client:
        # Whoever asks for HTTP is sent to HTTPS.
        moved = httpx.get(f"http://127.0.0.1:{proxy.http}/api/health", headers={"Host": NAME})
        assert moved.status_code in {301, 308}
        assert moved.headers["location"] == f"https://{NAME}/api/health"
        answer = client.get("/health")
        assert (answer.status_code, answer.text) == (200, "OK")
        assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
        strict = answer.headers["Strict-Transport-Security"]
        assert strict == "max-age=31536000; includeSubDomains"

        # What stands in an address is in no log of the proxy.
        assert client.get("/session?token=s3cret").status_code == 404
        assert eventually(lambda: "/api/session" in proxy.log.read_text())
        assert "s3cret" not in proxy.log.read_text()

        # A login: the servers know that there is TLS and who the user is, who may not say otherwise.
        began = SystemClock().now() - timedelta(seconds=5)
        login = {"email": EMAIL, "password": one.password}
        lies = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
        answer = client.post("/session", data=login, headers=lies)
        assert answer.status_code == 200, answer.text
        assert "; Secure" in answer.headers["set-cookie"]
        span = {"from": began.isoformat(), "to": (began + timedelta(minutes=5)).isoformat()}
        logins = [each for each in client.get("/audit", params=span).json() if each["actionType"] == "login"]
        assert logins[-1]["address"] == ELSEWHERE

        # The WebSocket, from a page of that host.
        first = trio.run(partial(first_message, proxy, client.cookies))
        assert "positions" in first

        # Uploads up to the limit of the server, and what it answers beyond.
        names = [f"{name}-{size}.bin" for size in (BODY_BYTES - 1, BODY_BYTES + 1)]
        assert client.post(f"/server/file/{names[0]}", content=bytes(BODY_BYTES - 1)).status_code == 200
        kept = [server.folder / "data" / "override" / names[0] for server in servers]
        assert [path.stat().st_size for path in kept if path.exists()] == [BODY_BYTES - 1]
        pieces = (bytes(1 << 16) for _ in range(BODY_BYTES // (1 << 16) + 1))
        for body in (bytes(BODY_BYTES + 1), pieces):
            answer = client.post(f"/server/file/{names[1]}", content=body)
            assert (answer.status_code, answer.text) == (413, "the body is too large")
        # Which is the fault of no server.
        for _ in servers:
            assert client.get("/health").text == "OK"


async def first_message(proxy, cookies):
    """What a WebSocket says first."""
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    headers = [(b"Cookie", cookie.encode()), (b"Origin", f"https://{NAME}".encode())]
    with trio.fail_after(PATIENCE):
        tcp = await trio.open_tcp_stream("127.0.0.1", proxy.https)
        stream = trio.SSLStream(tcp, tls, server_hostname=NAME, https_compatible=True)
        async with tcp, trio.open_nursery() as nursery:
            client = await wrap_client_stream(nursery, stream, NAME, "/api/socket", extra_headers=headers)
            message = await client.get_message()
            # Not closed in order: the client may fail on a ping that comes meanwhile.
            nursery.cancel_scope.cancel()
    return json.loads(message)


@needs_proxies
@pytest.mark.parametrize("name", PROXIES)
def test_live_video_is_seen_through_it(servers, behind, name, connected):
    one = servers[0]
    number = f"1395555024{list(PROXIES).index(name)}"
    with behind(name) as proxy, proxy.client(auth=(EMAIL, one.password)) as client:
        host, port = (proxy.host, CODECS["jt808"].port + proxy.offset) if name in OF_DEVICES else (None, None)
        with (
            connected(one, number, host=host, port=port, address=ELSEWHERE) as peer,
            ThreadPoolExecutor(1) as pool,
        ):
            (device,) = client.get("/devices", params={"uniqueId": number}).json()
            path = f"/stream/{device['id']}/1"
            asked = pool.submit(client.get, f"{path}/live.m3u8")
            request = peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]
            peer.send(peer.terminal.general_response(request))
            sender = Jt1078Sender(number, 6)
            # Devices find the port that the server has told at the proxy.
            with socket.create_connection(
                (host or one.host, request.tcp_port), PATIENCE, (ELSEWHERE, 0)
            ) as media:
                for count in range(21):
                    media.sendall(sender.encode(AccessUnit(1, H264, True, 500 * count, KEYFRAME)))
                answer = asked.result(PATIENCE)
                assert answer.status_code == 200, answer.text
                assert answer.headers["content-type"].startswith("application/vnd.apple.mpegurl")
                segment = m3u8.loads(answer.text).segments[-1]
                answer = client.get(f"{path}/{segment.uri}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "video/mp2t")
        # Packets of MPEG-TS.
        assert len(answer.content) % 188 == 0
        assert set(answer.content[::188]) == {0x47}


@needs_proxies
@pytest.mark.parametrize("name", OF_DEVICES)
def test_every_port_of_devices_leads_to_its_protocol(servers, behind, name, eventually):
    """With the address of the device, whichever server the proxy has chosen."""
    alarm_files = CODECS["jt808"].port
    told = {alarm_files: "jt808"} | {port: f"{kind} media" for kind, port in MEDIA_PORTS.items()}
    told[MEDIA_PORTS["talk"]] = "talk"
    with behind(name) as proxy:
        ports = {codec.port + proxy.offset: protocol for protocol, codec in CODECS.items()}
        for server in servers:
            ports |= {port + server.offset: kind for port, kind in told.items()}
        for last, (port, kind) in enumerate(ports.items(), 20 if name == OF_DEVICES[0] else 60):
            address = f"127.0.0.{last}"
            socket.create_connection((proxy.host, port), PATIENCE, (address, 0)).close()
            line = f"{kind} connection from {address} ended"
            assert eventually(lambda line=line: any(line in server.log for server in servers)), line


def numbers_of(text):
    return sorted(map(int, re.findall(r"\d{4}", text)))


def test_the_files_name_every_device_port_and_the_servers_own_with_their_offsets():
    shared = sorted(codec.port for codec in CODECS.values())
    own = [5015, 5263, 5363, 5463]
    haproxy = (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8")
    binds = re.findall(r"^    bind (:\d{4}.*)", haproxy, re.MULTILINE)
    expected = [shared, [port + 1000 for port in own], [port + 2000 for port in own]]
    assert [numbers_of(bind) for bind in binds] == expected
    nginx = (DEPLOY / "nginx-cluster.conf").read_text(encoding="utf-8")
    listens = re.findall(r"^    server \{ ((?:listen \d+; )+)proxy_pass (\S+);", nginx, re.MULTILINE)
    assert [numbers_of(listen) for listen, _ in listens[-2:]] == expected[1:]
    assert {name: int(listen.split()[1].rstrip(";")) for listen, name in listens[:-2]} == {
        name: codec.port for name, codec in CODECS.items()
    }
    for name, codec in CODECS.items():
        servers = f"server 10.0.0.11:{codec.port + 1000}; server 10.0.0.12:{codec.port + 2000};"
        assert re.search(rf"upstream {name} .*{re.escape(servers)}", nginx)


@needs_proxies
@pytest.mark.timeout(300)
def test_two_servers_behind_proxies(
    start_server, database_url, connected, eventually, certificate, tmp_path_factory
):
    settings = {
        **BEHIND,
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_DEVICE_CONNECTIONS_PER_ADDRESS": "1",
    }
    with contextlib.ExitStack() as stack:
        staying = stack.enter_context(start_server(settings))
        leaving = stack.enter_context(start_server(settings))
        proxies = [
            stack.enter_context(run(staying, leaving, certificate, tmp_path_factory.mktemp("proxy")))
            for run in (run_haproxy, run_nginx_cluster)
        ]

        def jt808(proxy):
            return CODECS["jt808"].port + proxy.offset

        def call(proxy, phone, address=ELSEWHERE):
            return connected(staying, phone, host=proxy.host, port=jt808(proxy), address=address)

        def refusals():
            line = f"refused a connection from {ELSEWHERE}: {ELSEWHERE} has 1 open"
            return staying.log.count(line) + leaving.log.count(line)

        for number, proxy in enumerate(proxies):
            # Of one address each server takes one device, and none of the proxy's other clients suffers.
            with (
                call(proxy, f"1395555020{number}"),
                call(proxy, f"1395555021{number}"),
                call(proxy, f"1395555022{number}", "127.0.0.3"),
            ):
                before = refusals()
                with (
                    socket.create_connection((proxy.host, jt808(proxy)), PATIENCE, (ELSEWHERE, 0)) as third,
                    contextlib.suppress(ConnectionResetError),
                ):
                    assert third.recv(1) == b""
                assert eventually(lambda before=before: refusals() > before)
            for server in (staying, leaving):
                assert eventually(
                    lambda server=server: f"jt808 connection from {ELSEWHERE} ended" in server.log
                )

        # The devices of a server that stops come back at the other, and users notice nothing.
        haproxy, nginx = proxies
        with (
            call(haproxy, "13955550231", "127.0.0.4") as first,
            call(nginx, "13955550232", "127.0.0.5") as second,
            call(haproxy, "13955550233", "127.0.0.6") as third,
            call(nginx, "13955550234", "127.0.0.7") as fourth,
        ):
            leaving.stop()
            peers = [first, second, third, fourth]
            left = [
                (number, peer.terminal.identity.number)
                for number, peer in enumerate(peers)
                if f"device {peer.terminal.identity.number} from" in leaving.log
            ]
            assert left
            for number, phone in left:
                assert eventually(lambda number=number: is_closed(peers[number]))
                proxy = (haproxy, nginx)[number % 2]
                stack.enter_context(call(proxy, phone, f"127.0.0.{14 + number}"))
        for proxy in proxies:
            answer = httpx.get(f"https://127.0.0.1:{proxy.https}/api/health", verify=False)
            assert (answer.status_code, answer.text) == (200, "OK")


def is_closed(peer):
    peer.socket.setblocking(False)
    try:
        return peer.socket.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
