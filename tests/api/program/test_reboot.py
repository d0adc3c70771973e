"""The program that starts itself again, as a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from motorpool.api.program.reboot import RESTART_CODE, is_supervised
from motorpool.bench.free_ports import free_server_port

BOSS = ("boss@example.org", "secret word")
PATIENCE_SECONDS = 60


@pytest.fixture
def start(tmp_path):
    running, clients = [], []

    def started(*prefix, **environ):
        port = free_server_port()
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "motorpool", "serve"],
            env={
                **os.environ,
                "MOTORPOOL_DATA": str(tmp_path / "data"),
                "MOTORPOOL_BIND": f"127.0.0.1:{port}",
                "MOTORPOOL_PROTOCOLS": "",
                "MOTORPOOL_DEVICE_HOST": "127.0.0.1",
                "MOTORPOOL_PORT_OFFSET": str(port),
                "MOTORPOOL_ADMIN_EMAIL": BOSS[0],
                "MOTORPOOL_ADMIN_PASSWORD": BOSS[1],
                "MOTORPOOL_LOGIN_HASH_MEMORY_KIB": "8192",
                **environ,
            },
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout.readline().startswith("Motorpool is running at"), process.communicate()[1]
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", auth=BOSS, timeout=30)
        clients.append(client)
        return process, client

    yield started
    for client in clients:
        client.close()
    for process in running:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def since(client):
    return client.get("/server/cache").text.partition("running since ")[2].partition("\n")[0]


def test_the_program_answers_stops_and_is_there_again_with_all_its_data(start):
    process, client = start()
    client.post("/devices", json={"name": "Van", "uniqueId": "1"}).raise_for_status()
    began = since(client)
    answer = client.post("/server/reboot")
    assert (answer.status_code, answer.text) == (200, "the server starts again")
    # The same process under the same number: whoever watches it sees it go on.
    assert process.stdout.readline().startswith("Motorpool is running at")
    assert process.poll() is None
    assert since(client) > began
    assert [device["name"] for device in client.get("/devices").json()] == ["Van"]
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, errors
    # The database ended in order both times, so nobody had to clear up after it.
    assert "left on" not in errors
    assert "Traceback" not in errors


def test_under_a_service_manager_the_process_ends_with_the_code_that_restarts_it(start):
    process, client = start("sh", "-c", 'SYSTEMD_EXEC_PID=$$ exec "$@"', "sh")
    assert client.post("/server/reboot").status_code == 200
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == RESTART_CODE == 75, errors


@pytest.mark.parametrize(
    ("environ", "parent", "expected"),
    [
        ({}, 1, False),
        ({"SYSTEMD_EXEC_PID": "42"}, 1, True),
        ({"SYSTEMD_EXEC_PID": "7", "INVOCATION_ID": "x"}, 7, False),
        ({"INVOCATION_ID": "x"}, 1, True),
        ({"NOTIFY_SOCKET": "/run/x"}, 1, True),
        ({"INVOCATION_ID": "x", "NOTIFY_SOCKET": "/run/x"}, 30, False),
    ],
)
def test_what_a_shell_has_inherited_is_no_service_manager(environ, parent, expected):
    assert is_supervised(environ, 42, parent) is expected


def test_the_unit_knows_the_code():
    unit = (Path(__file__).parents[3] / "deploy" / "motorpool.service").read_text()
    assert f"\nRestartForceExitStatus={RESTART_CODE}\n" in unit
    assert f"\nSuccessExitStatus={RESTART_CODE}\n" in unit
