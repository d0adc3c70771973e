"""HTTPS by settings: a real certificate, real clients."""

import logging
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import h11
import httpx
import pytest
import trio
import trio.testing
import trio_websocket
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from motorpool.api.http.server import tls_context
from motorpool.api.settings import HttpSettings


def make(folder, name, password=None):
    """A certificate for localhost that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    hidden = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)
    )
    return folder / f"{name}.crt", folder / f"{name}.key"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make(tmp_path_factory.mktemp("tls"), "own")


@pytest.fixture
async def secured(starting, files):
    certificate, key = files
    async with starting(listen=True, http=HttpSettings(tls_certificate=certificate, tls_key=key)) as served:
        yield served


@pytest.fixture
def trust(files):
    return ssl.create_default_context(cafile=str(files[0]))


async def test_the_api_is_served_over_tls_and_the_cookie_stays_there(secured, trust):
    base = f"https://localhost:{secured.port}"
    async with httpx.AsyncClient(base_url=base, verify=trust, trust_env=False) as client:
        login = await client.post("/api/session", data={"email": "admin@example.org", "password": "admin"})
        assert login.status_code == 200
        cookie = login.headers["Set-Cookie"]
        assert cookie.startswith("__Host-JSESSIONID=")
        assert "; Secure" in cookie
        assert "; HttpOnly" in cookie
        assert login.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"
        assert login.http_version == "HTTP/1.1"
        assert (await client.get("/api/session")).json()["email"] == "admin@example.org"
        assert (await client.get("/")).headers["Strict-Transport-Security"]


async def test_requests_that_wait_keep_their_connection(secured, trust):
    """While one is served another task receives, and is ended with it."""
    cookie = secured.cookie(secured.admin)
    head = f"Host: localhost\r\nCookie: __Host-JSESSIONID={cookie}\r\nSec-Fetch-Site: none\r\n"
    tcp = await trio.open_tcp_stream("localhost", secured.port)
    async with trio.SSLStream(tcp, trust, server_hostname="localhost", https_compatible=True) as stream:
        client = h11.Connection(h11.CLIENT)
        for path in ("/api/health", "/api/devices", "/api/server") * 5:
            await stream.send_all(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
            client.send(h11.Request(method="GET", target=path, headers=[("Host", "localhost")]))
            client.send(h11.EndOfMessage())
            with trio.fail_after(120):
                while (read := client.next_event()) is not h11.PAUSED and not isinstance(
                    read, h11.EndOfMessage
                ):
                    if read is h11.NEED_DATA:
                        client.receive_data(bytes(await stream.receive_some()))
                    elif isinstance(read, h11.Response):
                        assert read.status_code == 200, path
            client.start_next_cycle()


async def test_the_socket_is_served_over_tls(secured, trust):
    headers = [("Cookie", f"JSESSIONID={secured.cookie(secured.admin)}")]
    with trio.fail_after(120):
        async with trio_websocket.open_websocket(
            "localhost", secured.port, "/api/socket", use_ssl=trust, extra_headers=headers
        ) as socket:
            assert '"positions"' in await socket.get_message()


async def test_a_client_without_tls_or_with_an_old_one_gets_nothing(secured, trust, caplog):
    async with httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx.TransportError):
            await client.get(f"http://localhost:{secured.port}/api/health")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        trust.maximum_version = ssl.TLSVersion.TLSv1_1
    async with httpx.AsyncClient(verify=trust, trust_env=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(f"https://localhost:{secured.port}/api/health")
    (await trio.open_tcp_stream("localhost", secured.port)).socket.close()
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_half_handshakes_are_given_up_for_others_and_not_logged(starting, files, trust, caplog):
    http = HttpSettings(tls_certificate=files[0], tls_key=files[1], connections_per_address=4)
    async with starting(listen=True, http=http) as served:
        halves = [await trio.open_tcp_stream("localhost", served.port) for _ in range(4)]
        for half in halves:
            await half.send_all(b"\x16\x03\x01")
        async with httpx.AsyncClient(verify=trust, trust_env=False) as client:
            assert (await client.get(f"https://localhost:{served.port}/api/health")).text == "OK"
        with trio.fail_after(120):
            assert await halves[0].receive_some() == b""
        for half in halves:
            await trio.aclose_forcefully(half)
        await trio.testing.wait_all_tasks_blocked(0.05)
    warned = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert warned == ["closed an idle connection from 127.0.0.1 for a new one: 127.0.0.1 has 4 open"]


async def test_without_tls_there_is_no_promise_of_it(served):
    answer = await served.client().get("/health")
    assert "Strict-Transport-Security" not in answer.headers
    login = await served.client().post("/session", form={"email": "admin@example.org", "password": "admin"})
    assert "; Secure" not in login.headers["Set-Cookie"]


def test_without_settings_there_is_no_context():
    assert tls_context(HttpSettings()) is None


def test_what_is_wrong_with_the_files_is_said(files, tmp_path):
    certificate, key = files
    other, _ = make(tmp_path, "other")
    _, encrypted = make(tmp_path, "encrypted", b"password")
    text = tmp_path / "text"
    text.write_text("no certificate")
    for crt, pem, wrong in [
        (tmp_path / "none.crt", key, r"tls_certificate: .*none\.crt cannot be read: No such file"),
        (certificate, tmp_path / "none.key", r"tls_key: .*none\.key cannot be read: No such file"),
        (other, key, r"other\.crt and .*own\.key: the key is not that of the certificate"),
        (text, key, "no certificate and key in PEM"),
        (certificate, text, "no certificate and key in PEM"),
        (
            tmp_path / "encrypted.crt",
            encrypted,
            r"tls_key: .*encrypted\.key is encrypted; the key must be plain",
        ),
    ]:
        with pytest.raises(OSError, match=wrong):
            tls_context(HttpSettings(tls_certificate=crt, tls_key=pem))


def test_the_start_ends_with_one_line(files, tmp_path):
    other, _ = make(tmp_path, "other")
    done = subprocess.run(
        [sys.executable, "-m", "motorpool", "serve"],
        env={
            "MOTORPOOL_DATA": str(tmp_path / "data"),
            "MOTORPOOL_BIND": "127.0.0.1:0",
            "MOTORPOOL_HTTP_TLS_CERTIFICATE": str(other),
            "MOTORPOOL_HTTP_TLS_KEY": str(files[1]),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"motorpool: [http] tls_certificate and tls_key: {other} and {files[1]}:"
        " the key is not that of the certificate"
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()
