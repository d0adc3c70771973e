"""Two servers behind HAProxy and nginx, by the files in deploy/: addresses, limits, and the end of a server
(docs/servers.md#behind-a-proxy).
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from motorpool.bench.free_ports import free_port
from motorpool.bench.server import EMAIL
from motorpool.codecs.devices import CODECS
from motorpool.runtime import SystemClock

DEPLOY = Path(__file__).parents[2] / "deploy"
PATIENCE = 120.0
ELSEWHERE = "127.0.0.2"
"""Where devices call from; the proxies call from 127.0.0.1."""

STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
"""Where Debian's package libnginx-mod-stream has it."""

needs_proxies = pytest.mark.skipif(
    not (shutil.which("haproxy") and shutil.which("nginx") and STREAM_MODULE.exists())
    and os.environ.get("CI") != "true",
    reason="haproxy, or nginx with its stream module, is not installed",
)


def replaced(text, *changes):
    """The text with each pattern replaced, which it must contain."""
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        assert count, f"{pattern} is not in the file"
    return text


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A PEM file with a key and a certificate of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = SystemClock().now()
    signed = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = signed.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("proxy") / "fleet.pem"
    path.write_bytes(pem)
    return path


class Proxy:
    """A running proxy: `http` and `https` are its ports for users, `jt808` that for terminals."""

    def __init__(self, folder):
        self.http, self.https, self.jt808 = free_port(), free_port(), free_port()
        self.log = folder / "log"


@contextlib.contextmanager
def running(command, port, log):
    """Run a program until the end, from when it listens on a port: then it does on all of them."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 10).close()
                break
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield
    finally:
        # Not killed: the workers of nginx would stay.
        process.terminate()
        process.wait(PATIENCE)


@contextlib.contextmanager
def run_haproxy(one, other, certificate, folder):
    proxy = Proxy(folder)
    offsets = [f"127.0.0.1:{server.jt808_port - proxy.jt808:+d}" for server in (one, other)]
    text = replaced(
        (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8"),
        (r"^    (user|group) haproxy\n", ""),
        (r"^    log /dev/log local0$", "    log stdout format raw local0"),
        (r"^listen media_a(.|\n)*", ""),
        (r"bind :80$", f"bind 127.0.0.1:{proxy.http}"),
        (r"bind :443 ssl crt \S+", f"bind 127.0.0.1:{proxy.https} ssl crt {certificate}"),
        (r"bind :5001\S+$", f"bind 127.0.0.1:{proxy.jt808}"),
        (r"server a 10\.0\.0\.11:8082", f"server a 127.0.0.1:{one.offset}"),
        (r"server b 10\.0\.0\.12:8082", f"server b 127.0.0.1:{other.offset}"),
        (r"server a 10\.0\.0\.11:\+1000", f"server a {offsets[0]} check port {one.offset}"),
        (r"server b 10\.0\.0\.12:\+2000", f"server b {offsets[1]} check port {other.offset}"),
    )
    path = folder / "haproxy.cfg"
    path.write_text(text, encoding="utf-8")
    with running(["haproxy", "-db", "-f", str(path)], proxy.https, proxy.log):
        yield proxy


@contextlib.contextmanager
def run_nginx(one, other, certificate, folder):
    proxy = Proxy(folder)
    spare = "".join(
        f"    {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = replaced(
        (DEPLOY / "nginx-cluster.conf").read_text(encoding="utf-8"),
        (r"^user .*\n", ""),
        (r"^load_module .*", f"load_module {STREAM_MODULE};"),
        (r"^worker_processes auto", "worker_processes 1"),
        (r"^pid .*", f"pid {folder}/pid;"),
        (r"^worker_rlimit_nofile .*\n", ""),
        (r"worker_connections 65536", "worker_connections 200"),
        (r"^http \{\n", f"http {{\n{spare}"),
        (r"access_log /var/log/nginx/motorpool.log", f"access_log {folder}/log"),
        (r"listen 80;", f"listen 127.0.0.1:{proxy.http};"),
        (r"listen 443 ssl;", f"listen 127.0.0.1:{proxy.https} ssl;"),
        (r"ssl_certificate  .*", f"ssl_certificate {certificate};"),
        (r"ssl_certificate_key .*", f"ssl_certificate_key {certificate};"),
        (r"10\.0\.0\.11:8082", f"127.0.0.1:{one.offset}"),
        (r"10\.0\.0\.12:8082", f"127.0.0.1:{other.offset}"),
        (r"10\.0\.0\.11:6015;", f"127.0.0.1:{one.jt808_port};"),
        (r"10\.0\.0\.12:7015;", f"127.0.0.1:{other.jt808_port};"),
        (r"^    server \{ listen 5015;", f"    server {{ listen 127.0.0.1:{proxy.jt808};"),
        (r"^    server \{ listen [5-7]\d+;.*\n", ""),
    )
    path = folder / "nginx.conf"
    path.write_text(text, encoding="utf-8")
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(path), "-g", "daemon off;"]
    with running(command, proxy.https, proxy.log):
        yield proxy


def numbers_of(text):
    return sorted(map(int, re.findall(r"\d{4}", text)))


def test_the_files_name_every_device_port_and_the_servers_own_with_their_offsets():
    shared = sorted(codec.port for codec in CODECS.values())
    own = [5015, 5263, 5363]
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
        "MOTORPOOL_CLUSTER_NAME": "north",
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_HTTP_TRUSTED_PROXIES": "127.0.0.1/32",
        "MOTORPOOL_DEVICE_PROXY_PROTOCOL": "true",
        "MOTORPOOL_DEVICE_TRUSTED_PROXIES": "127.0.0.1/32",
        "MOTORPOOL_DEVICE_CONNECTIONS_PER_ADDRESS": "1",
    }
    with contextlib.ExitStack() as stack:
        staying = stack.enter_context(start_server(settings))
        leaving = stack.enter_context(start_server(settings))
        proxies = [
            stack.enter_context(run(staying, leaving, certificate, tmp_path_factory.mktemp("proxy")))
            for run in (run_haproxy, run_nginx)
        ]

        def call(proxy, phone, address=ELSEWHERE):
            return connected(staying, phone, port=proxy.jt808, address=address)

        def refusals():
            line = f"refused a connection from {ELSEWHERE}: {ELSEWHERE} has 1 open"
            return staying.log.count(line) + leaving.log.count(line)

        for number, proxy in enumerate(proxies):
            # A user is the client, over HTTPS, wherever the proxy takes the request.
            with httpx.Client(
                base_url=f"https://127.0.0.1:{proxy.https}/api",
                auth=(EMAIL, staying.password),
                verify=False,
                timeout=PATIENCE,
            ) as client:
                answer = client.get("/session")
                assert answer.status_code == 200
                strict = answer.headers["Strict-Transport-Security"]
                assert strict == "max-age=31536000; includeSubDomains"
                # What stands in an address is in no log of the proxy.
                assert client.get("/session?token=s3cret").status_code == 404
                assert eventually(lambda proxy=proxy: "/api/session " in proxy.log.read_text())
                assert "s3cret" not in proxy.log.read_text()
            moved = httpx.get(f"http://127.0.0.1:{proxy.http}/api/health")
            assert moved.status_code == 301
            assert moved.headers["location"].startswith("https://")

            # Of one address each server takes one device, and none of the proxy's other clients suffers.
            with (
                call(proxy, f"1395555020{number}"),
                call(proxy, f"1395555021{number}"),
                call(proxy, f"1395555022{number}", "127.0.0.3"),
            ):
                before = refusals()
                with (
                    socket.create_connection(("127.0.0.1", proxy.jt808), PATIENCE, (ELSEWHERE, 0)) as third,
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
