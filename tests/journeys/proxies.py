"""The proxies of deploy/, each run by its file as shipped, except for addresses, ports, users and paths."""

import contextlib
import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from motorpool.bench.free_ports import free_port, free_server_port
from motorpool.runtime import SystemClock

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "fleet.example.org"
"""The host that the files name."""
PATIENCE = 120.0
STREAM_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
"""Where Debian's package libnginx-mod-stream has it."""

needs_proxies = pytest.mark.skipif(
    not (all(map(shutil.which, ("caddy", "haproxy", "nginx"))) and STREAM_MODULE.exists())
    and os.environ.get("CI") != "true",
    reason="Caddy, HAProxy, or nginx with its stream module, is not installed",
)


@dataclass(frozen=True)
class Proxy:
    """A running proxy. Its ports for protocols and media are on the address `host`."""

    log: Path
    host: str
    http: int
    https: int
    offset: int = 0
    """Of its ports for protocols; those of servers' own have the offset of the server."""

    def client(self, *, auth=None, **options):
        """An HTTP client that asks for the name in the file, over TLS; with `options` of its transport."""
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.https}/api",
            headers={"Host": NAME},
            auth=auth,
            transport=Named(verify=False, **options),
            timeout=PATIENCE,
        )


class Named(httpx.HTTPTransport):
    """Names the host of the files in the TLS handshake, whatever address it connects to."""

    def handle_request(self, request):
        request.extensions["sni_hostname"] = NAME
        return super().handle_request(request)


def make_certificate():
    """A certificate that is signed by itself, and its key, in PEM."""
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
    return signed.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def replaced(text, *changes):
    """The text with each pattern replaced, which it must contain."""
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        assert count, f"{pattern} is not in the file"
    return text


def shipped(name):
    return (DEPLOY / name).read_text(encoding="utf-8")


def moved_ports(one, other, proxy):
    """Replace the port of a file by the one that stands for it here, and its address if there is one."""
    places = {"5": (proxy.host, proxy.offset), "6": (proxy.host, one.offset), "7": (proxy.host, other.offset)}

    def place(found):
        host, offset = places[found[1]]
        return f"{host}:{5000 + int(found[2]) + offset}"

    return place


@contextlib.contextmanager
def running(command, port, log, environment=None, host="127.0.0.1"):
    """Run a program until the end, from when it listens on a port, which is the last that it opens."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection((host, port), 10).close()
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
    """deploy/haproxy.cfg in front of two servers."""
    proxy = Proxy(folder / "log", "127.0.0.9", free_port(), free_port(), free_server_port())
    text = replaced(
        shipped("haproxy.cfg"),
        (r"^#.*\n", ""),
        (r"^    (user|group) haproxy\n", ""),
        (r"^    log /dev/log local0$", "    log stdout format raw local0"),
        (r"bind :80$", f"bind 127.0.0.1:{proxy.http}"),
        (r"bind :443 ssl crt /etc/haproxy/fleet.pem", f"bind 127.0.0.1:{proxy.https} ssl crt {certificate}"),
        (r"(?<=[ ,]):([567])(\d{3})\b", moved_ports(one, other, proxy)),
        (r"10\.0\.0\.11:8082", f"127.0.0.1:{one.offset}"),
        (r"10\.0\.0\.12:8082", f"127.0.0.1:{other.offset}"),
        # Here the two have the same address, so the health of each is at a port of its own.
        (r"10\.0\.0\.11:\+1000", f"127.0.0.1:{one.offset - proxy.offset:+d} port {one.offset}"),
        (r"10\.0\.0\.12:\+2000", f"127.0.0.1:{other.offset - proxy.offset:+d} port {other.offset}"),
        (r"10\.0\.0\.1[12](?= send-proxy)", "127.0.0.1"),
    )
    assert "10.0.0." not in text
    path = folder / "haproxy.cfg"
    path.write_text(text, encoding="utf-8")
    with running(["haproxy", "-db", "-f", str(path)], proxy.https, proxy.log):
        yield proxy


@contextlib.contextmanager
def run_nginx_cluster(one, other, certificate, folder):
    """deploy/nginx-cluster.conf in front of two servers."""
    proxy = Proxy(folder / "log", "127.0.0.10", free_port(), free_port(), free_server_port())
    text = replaced(
        shipped("nginx-cluster.conf"),
        (r"^#.*\n", ""),
        (r"^user www-data;", f"user {pwd.getpwuid(os.geteuid()).pw_name};"),
        (r"^load_module .*", f"load_module {STREAM_MODULE};"),
        (r"^pid .*", f"pid {folder}/pid;"),
        (r"/var/log/nginx/motorpool.log", str(proxy.log)),
        (r"^http \{\n", f"http {{\n{_nginx_paths(folder)}"),
        (r"listen 80;", f"listen 127.0.0.1:{proxy.http};"),
        (r"listen 443 ssl", f"listen 127.0.0.1:{proxy.https} ssl"),
        (r"/etc/letsencrypt/live/fleet.example.org/\w+.pem", str(certificate)),
        (r"10\.0\.0\.11:8082", f"127.0.0.1:{one.offset}"),
        (r"10\.0\.0\.12:8082", f"127.0.0.1:{other.offset}"),
        (r"10\.0\.0\.11:6(\d+)", lambda found: f"127.0.0.1:{5000 + int(found[1]) + one.offset}"),
        (r"10\.0\.0\.12:7(\d+)", lambda found: f"127.0.0.1:{5000 + int(found[1]) + other.offset}"),
        (r"10\.0\.0\.1[12]:\$server_port", "127.0.0.1:$server_port"),
        (r"(?<=listen )([567])(\d{3})\b", moved_ports(one, other, proxy)),
    )
    assert "10.0.0." not in text
    with _running_nginx(text, proxy, folder):
        yield proxy


@contextlib.contextmanager
def run_nginx(server, certificate, folder):
    """deploy/nginx.conf in front of one server, in a main file that says no more than it must."""
    proxy = Proxy(folder / "log", "127.0.0.1", free_port(), free_port())
    text = replaced(
        shipped("nginx.conf"),
        (r"listen 80;", f"listen 127.0.0.1:{proxy.http};"),
        (r"listen 443 ssl", f"listen 127.0.0.1:{proxy.https} ssl"),
        (r"listen \[::\]:80;", f"listen [::1]:{proxy.http};" if has_ipv6() else ""),
        (r"listen \[::\]:443 ssl.*", f"listen [::1]:{proxy.https} ssl;" if has_ipv6() else ""),
        (r"/etc/letsencrypt/live/fleet.example.org/\w+.pem", str(certificate)),
        (r"/var/log/nginx/motorpool.log", str(proxy.log)),
        (r"127\.0\.0\.1:8082", f"127.0.0.1:{server.offset}"),
    )
    user = pwd.getpwuid(os.geteuid()).pw_name
    main = f"user {user};\npid {folder}/pid;\nevents {{}}\nhttp {{\n{_nginx_paths(folder)}{text}}}\n"
    with _running_nginx(main, proxy, folder):
        yield proxy


def has_ipv6():
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


def _nginx_paths(folder):
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "".join(f"{name}_temp_path {folder}/{name};\n" for name in names)


@contextlib.contextmanager
def _running_nginx(text, proxy, folder):
    path = folder / "nginx.conf"
    path.write_text(text, encoding="utf-8")
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(path), "-g", "daemon off;"]
    # It opens them in this order.
    host, port = re.findall(r"listen (127[\d.]+):(\d+)(?! udp)\b", text)[-1]
    with running(command, int(port), proxy.log, host=host):
        yield


@contextlib.contextmanager
def run_caddy(server, _certificate, folder):
    """deploy/Caddyfile in front of one server, with the log that it describes. Caddy signs itself."""
    proxy = Proxy(folder / "log", "127.0.0.1", free_port(), free_port())
    here = f"http_port {proxy.http}\nhttps_port {proxy.https}\ndefault_bind 127.0.0.1\n"
    text = replaced(shipped("Caddyfile"), (r"127\.0\.0\.1:8082", f"127.0.0.1:{server.offset}"))
    described = re.search(r"where tokens may stand:\n((?:#   .*\n)+)", text)
    log = re.sub("^#", "", described[1], flags=re.MULTILINE)
    text = replaced(text, (rf"^{NAME} \{{\n", lambda found: found[0] + log))
    path = folder / "Caddyfile"
    path.write_text(f"{{\nadmin off\nlocal_certs\nskip_install_trust\n{here}}}\n{text}", encoding="utf-8")
    environment = {**os.environ, "HOME": str(folder)}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name, None)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(path)]
    with running(command, proxy.https, proxy.log, environment):
        yield proxy
