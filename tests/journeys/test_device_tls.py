"""Devices behind HAProxy with TLS, by the configuration of docs/security.md#tls-for-devices."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
import tomllib
from pathlib import Path

import httpx
import pytest
from tests.actors.http.conftest import authority

from motorpool.bench.free_ports import free_port

__all__ = ["authority"]

PAGE = Path(__file__).parents[2] / "docs/security.md"
PATIENCE = 60.0

needs_haproxy = pytest.mark.skipif(
    not shutil.which("haproxy") and os.environ.get("CI") != "true", reason="haproxy is not installed"
)


def blocks_of_the_page():
    """The configuration of HAProxy, and the settings of the server."""
    section = PAGE.read_text(encoding="utf-8").partition("### TLS for devices\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\w*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def haproxy(configuration, port, folder):
    path = folder / "haproxy.cfg"
    path.write_text(configuration, encoding="utf-8")
    process = subprocess.Popen(["haproxy", "-db", "-f", str(path)])
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 10).close()
                break
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


@needs_haproxy
def test_a_device_reports_over_tls_from_its_own_address(start_server, authority, tmp_path):
    configuration, settings = blocks_of_the_page()
    device = tomllib.loads(settings)["device"]
    assert device == {"proxy_protocol": True, "trusted_proxies": ["127.0.0.1/32"]}
    authority.server("localhost")
    certificate = authority.folder / "localhost.pem"
    port = free_port()
    proxied = {
        "MOTORPOOL_DEVICE_PROXY_PROTOCOL": "true",
        "MOTORPOOL_DEVICE_TRUSTED_PROXIES": "127.0.0.1/32",
    }
    with start_server(proxied) as server, contextlib.ExitStack() as stack:
        # The same lines, on ports of this test.
        changes = [
            (":15027,:15055 ssl crt /etc/haproxy/fleet.pem", f"127.0.0.1:{port} ssl crt {certificate}"),
            ("127.0.0.1:-10000", f"127.0.0.1:{server.osmand_port}"),
        ]
        for known, changed in changes:
            assert configuration.count(known) == 1
            configuration = configuration.replace(known, changed)
        stack.enter_context(haproxy(configuration, port, tmp_path))
        client = stack.enter_context(server.client())
        vehicle = {"name": "Van", "uniqueId": "1", "attributes": {"device.networks": "127.0.0.2/32"}}
        assert client.post("/devices", json=vehicle).status_code == 200
        statuses = {}
        for address in ("127.0.0.3", "127.0.0.2"):
            transport = httpx.HTTPTransport(local_address=address, verify=authority.trusting)
            with httpx.Client(transport=transport, timeout=PATIENCE) as phone:
                answer = phone.get(f"https://localhost:{port}/", params={"id": "1", "lat": 1, "lon": 2})
                statuses[address] = answer.status_code
        assert statuses["127.0.0.2"] == 200
        assert statuses["127.0.0.3"] >= 400
        assert len(client.get("/positions").json()) == 1
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"http://localhost:{port}/", params={"id": "1", "lat": 1, "lon": 2}, timeout=PATIENCE)
