"""The whole program as a process of its own."""

import errno
import fcntl
import os
import pty
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing
from tests.journeys.proxies import make_certificate

from motorpool.actors.settings import RETENTION_DEFAULTS
from motorpool.actors.upkeep.settings import PositionSettings
from motorpool.actors.work.bind_errors import bind_problem
from motorpool.api.configuration.live import open_live_settings
from motorpool.api.program import serve as serve_program
from motorpool.api.program.errors import StartFailed, error_line, is_foreseen
from motorpool.api.program.preparation import warn_of_retention, warn_of_shared_names
from motorpool.api.settings import Settings
from motorpool.runtime import ActorFailed

PATIENCE_SECONDS = 60
KEY = "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="


class Program:
    """A running `motorpool serve`; `popen` starts it."""

    def __init__(
        self, popen: Callable[..., subprocess.Popen[str]], folder: Path, url: str, port: int, **environ: str
    ) -> None:
        self.port = port
        self.osmand_port = port + 1
        self.process = popen(
            ["serve"],
            env={
                **os.environ,
                "MOTORPOOL_DATA": str(folder),
                "MOTORPOOL_DATABASE": url,
                "MOTORPOOL_BIND": f"127.0.0.1:{self.port}",
                "MOTORPOOL_DEVICE_HOST": "127.0.0.1",
                "MOTORPOOL_PORT_OFFSET": str(self.osmand_port - 5055),
                "MOTORPOOL_PROTOCOLS": "osmand",
                "MOTORPOOL_LOGIN_HASH_MEMORY_KIB": "8192",
                "MOTORPOOL_ENCRYPTION_KEYS": KEY,
                **environ,
            },
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_up(self) -> str:
        """Wait for the line that says where; the line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        return line

    def end(self, sign: signal.Signals = signal.SIGTERM) -> tuple[int, str, float]:
        began = time.monotonic()
        self.process.send_signal(sign)
        _, errors = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, errors, time.monotonic() - began


def start_program(words: list[str], **options: Any) -> subprocess.Popen[str]:
    """Start the program as its users do, not as a fork of one that has been imported."""
    return subprocess.Popen([sys.executable, "-m", "motorpool", *words], **options)


@pytest.fixture
def serve(tmp_path, database_url, free_port, forks):
    running: list[Program] = []

    def start(popen: Callable[..., subprocess.Popen[str]] = forks.popen, **environ: str) -> Program:
        running.append(Program(popen, tmp_path, database_url, free_port(1), **environ))
        return running[-1]

    yield start
    for program in running:
        if program.process.poll() is None:
            program.process.kill()
            program.process.communicate()


def test_it_says_where_it_is_serves_and_stops_in_order(serve):
    program = serve(
        start_program, MOTORPOOL_ADMIN_EMAIL="boss@example.org", MOTORPOOL_ADMIN_PASSWORD="secret word"
    )
    assert program.wait_up() == f"Motorpool is running at http://127.0.0.1:{program.port}/\n"
    base = f"http://127.0.0.1:{program.port}"
    assert httpx.get(f"{base}/api/health").text == "OK"
    assert "<title>Motorpool</title>" in httpx.get(base).text
    me = httpx.get(f"{base}/api/session", auth=("boss@example.org", "secret word"))
    assert me.json()["administrator"] is True
    code, errors, seconds = program.end()
    assert code == 0, errors
    assert seconds < 30
    assert "secret" not in errors


def test_a_hangup_changes_nothing_and_says_what_does(serve):
    program = serve(start_program)
    program.wait_up()
    program.process.send_signal(signal.SIGHUP)
    program.process.send_signal(signal.SIGHUP)
    assert httpx.get(f"http://127.0.0.1:{program.port}/api/health").text == "OK"
    code, errors, _ = program.end()
    assert code == 0, errors
    assert "SIGHUP changes nothing: settings are read at the start" in errors


def test_the_end_of_its_terminal_ends_it_in_order(serve):
    ours, terminal = pty.openpty()

    def popen(words: list[str], **options: Any) -> subprocess.Popen[str]:
        return start_program(words, **{**options, "stdin": terminal, "start_new_session": True})

    try:
        program = serve(popen)
        program.wait_up()
    finally:
        os.close(terminal)
    code, errors, _ = program.end(signal.SIGHUP)
    os.close(ours)
    assert code == 0, errors
    assert "stopped" in errors


def test_the_first_user_registers_with_the_link_that_is_printed(serve):
    program = serve(start_program)
    program.wait_up()
    assert program.process.stdout is not None
    assert "first user, the administrator" in program.process.stdout.readline()
    link = program.process.stdout.readline().strip()
    base = f"http://127.0.0.1:{program.port}"
    # In the fragment, which no browser sends.
    assert link.startswith(f"{base}/#setup=")
    user = {"email": "boss@example.org", "password": "four random words"}
    refused = httpx.post(f"{base}/api/users", json=user)
    assert (refused.status_code, "set-up token" in refused.text) == (400, True)
    made = httpx.post(f"{base}/api/users", json=user, headers={"X-Setup-Token": link.partition("#setup=")[2]})
    assert (made.status_code, made.json()["administrator"]) == (200, True)
    program.end()
    # There has been a user.
    program = serve(start_program)
    program.wait_up()
    program.process.send_signal(signal.SIGTERM)
    assert program.process.communicate(timeout=PATIENCE_SECONDS)[0] == ""


def test_a_server_with_a_database_elsewhere_and_no_key_warns_once(serve):
    program = serve(MOTORPOOL_ENCRYPTION_KEYS="")
    program.wait_up()
    _, errors, _ = program.end()
    warnings = [line for line in errors.splitlines() if "are not encrypted: set encryption.keys" in line]
    assert len(warnings) == 1, errors


def test_a_wrong_key_stops_the_start_with_one_line_that_does_not_repeat_it(serve):
    program = serve(MOTORPOOL_ENCRYPTION_KEYS=f"{KEY},c2hvcnQ=")
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 2
    assert errors == (
        "motorpool: MOTORPOOL_ENCRYPTION_KEYS: the value has an entry that is not the base64 of 32 bytes,"
        " such as `openssl rand -base64 32` prints\n"
    )


def test_a_common_password_of_the_first_administrator_stops_the_start_with_one_line(serve):
    program = serve(MOTORPOOL_ADMIN_EMAIL="boss@example.org", MOTORPOOL_ADMIN_PASSWORD="Password123")
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    last = errors.splitlines()[-1]
    assert program.process.returncode == 1
    assert last.startswith("motorpool: admin.password: is one of the most common ones"), errors


def test_a_client_that_stops_reading_does_not_delay_the_stop(serve):
    program = serve(MOTORPOOL_ADMIN_EMAIL="boss@example.org", MOTORPOOL_ADMIN_PASSWORD="secret word")
    program.wait_up()
    with socket.create_connection(("127.0.0.1", program.port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(200):
            client.sendall(b"GET /console/vendor/hls.min.js HTTP/1.1\r\nHost: x\r\n\r\n")
        # Answers have begun to come, and nobody takes them.
        assert select.select([client], [], [], PATIENCE_SECONDS)[0]
        code, errors, seconds = program.end(signal.SIGINT)
    assert code == 0, errors
    assert seconds < 30


def test_a_port_in_use_is_one_line_and_a_code(serve):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        program = serve(MOTORPOOL_BIND=f"127.0.0.1:{port}")
        output, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 1
    assert output == ""
    assert errors.splitlines()[-1] == (
        f"motorpool: cannot listen on 127.0.0.1:{port}: the address is in use:"
        " end the program that uses it, or change bind"
    )
    assert "Traceback" not in errors


def test_a_device_port_in_use_is_one_line_and_a_code(serve, free_port):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        program = serve(MOTORPOOL_PORT_OFFSET=str(port - 5055))
        _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 1
    assert errors.splitlines()[-1] == (
        f"motorpool: cannot listen for osmand on 127.0.0.1:{port}: the address is in use:"
        " end the program that uses it, or change [device] host and [port] offset"
    )
    assert "Traceback" not in errors


def locked(folder: Path) -> dict[str, str]:
    # The test ends with its process, and the lock with that.
    (folder / "data").mkdir()
    file = os.open(folder / "data" / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    return {}


def of_another_version(folder: Path) -> dict[str, str]:
    cluster = folder / "data" / "postgres"
    cluster.mkdir(parents=True, mode=0o755)
    (cluster / "PG_VERSION").write_text("9\n")
    return {}


def without_a_certificate(folder: Path) -> dict[str, str]:
    for name in ("c.pem", "k.pem"):
        (folder / name).write_text("no certificate")
        (folder / name).chmod(0o600)
    return {
        "MOTORPOOL_HTTP_TLS_CERTIFICATE": str(folder / "c.pem"),
        "MOTORPOOL_HTTP_TLS_KEY": str(folder / "k.pem"),
    }


def configured(text: str) -> Callable[[Path], dict[str, str]]:
    def write(folder: Path) -> dict[str, str]:
        (folder / "motorpool.toml").write_text(text)
        return {}

    return write


def given(**environ: str) -> Callable[[Path], dict[str, str]]:
    return lambda _: environ


EMBEDDED = {"MOTORPOOL_DATABASE": "embedded"}


@pytest.mark.parametrize(
    ("prepare", "environ", "code", "line"),
    [
        (
            given(MOTORPOOL_BIND="192.0.2.1:8082"),
            {},
            1,
            "cannot listen on 192.0.2.1:8082: this machine has no",
        ),
        (given(MOTORPOOL_BIND="no.invalid:8082"), {}, 1, "cannot listen on no.invalid:8082: .*: see bind"),
        (
            given(MOTORPOOL_DEVICE_HOST="192.0.2.1"),
            {},
            1,
            "cannot listen for osmand on 192.0.2.1:.* change \\[device\\] host",
        ),
        (
            given(MOTORPOOL_DEVICE_HOST="no.invalid"),
            {},
            1,
            "cannot listen for osmand on no.invalid:.* see \\[device\\] host",
        ),
        (
            given(MOTORPOOL_DATA="/dev/null/data"),
            EMBEDDED,
            1,
            "the data folder /dev/null/data cannot be used: ",
        ),
        (locked, EMBEDDED, 1, "another server works on the data in "),
        (locked, {"MOTORPOOL_NODES": "2"}, 1, "another server works on the data in "),
        (of_another_version, EMBEDDED, 1, "was written by PostgreSQL 9, this release brings .*backup"),
        (
            without_a_certificate,
            {},
            1,
            r"\[http\] tls_certificate and tls_key: .* no certificate and key in PEM",
        ),
        (
            given(MOTORPOOL_CLUSTER_NAME="a"),
            EMBEDDED,
            2,
            r"\[cluster\] name needs database = .*: the embedded database is for one server",
        ),
        (
            given(MOTORPOOL_CLUSTER_NAME="a", MOTORPOOL_NODE_ADDRESS="http://192.0.2.1:8083"),
            {},
            1,
            r"cannot listen on 192.0.2.1:8083: this machine has no such address: change \[node\] address",
        ),
        (configured("bind = "), {}, 2, "motorpool.toml: not valid TOML: "),
        (configured("bnid = 1"), {}, 2, "motorpool.toml: bnid is no setting; the nearest is bind"),
    ],
)
def test_what_an_operator_can_see_to_is_one_line_that_says_what(
    serve, tmp_path, prepare, environ, code, line
):
    made = prepare(tmp_path)
    program = serve(**{"MOTORPOOL_DATA": str(tmp_path / "data"), **environ, **made})
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == code, errors
    assert re.search(rf"^motorpool: .*{line}", errors.splitlines()[-1]), errors
    assert "Traceback" not in errors
    assert len([each for each in errors.splitlines() if " INFO " not in each]) <= 2, errors


def start_with(*sockets: socket.socket) -> Callable[..., subprocess.Popen[str]]:
    """Start programs as systemd does, with these sockets."""

    def place() -> None:
        high = [os.dup(each.fileno()) for each in sockets]
        for number, each in enumerate(high):
            os.dup2(each, 3 + number)

    def popen(words: list[str], *, env: dict[str, str], **options: Any) -> subprocess.Popen[str]:
        program = [sys.executable, "-m", "motorpool", *words]
        return subprocess.Popen(
            ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *program],
            env={**env, "LISTEN_FDS": str(len(sockets))},
            close_fds=False,
            preexec_fn=place,  # noqa: PLW1509 - no threads use it
            **options,
        )

    return popen


@pytest.mark.parametrize("nodes", ["1", "2"])
def test_a_server_with_sockets_of_systemd_is_replaced_and_refuses_no_connection(serve, free_port, nodes):
    port = free_port(1)
    settings = {
        "MOTORPOOL_BIND": f"127.0.0.1:{port}",
        "MOTORPOOL_PORT_OFFSET": str(port + 1 - 5055),
        "MOTORPOOL_NODES": nodes,
    }
    ended = threading.Event()
    failures: list[Exception] = []
    answers: list[int] = []
    wanted: list[int] = []

    def ask(number: int) -> None:
        while not ended.is_set():
            try:
                answers.append(httpx.get(f"http://127.0.0.1:{number}/", timeout=60).status_code)
            except httpx.ConnectError as error:
                failures.append(error)
            except httpx.TransportError:
                pass  # of the server that ended

    with (
        socket.create_server(("127.0.0.1", port)) as http,
        socket.create_server(("127.0.0.1", port + 1)) as devices,
    ):
        askers = [threading.Thread(target=ask, args=(each,)) for each in (port, port + 1)]
        for each in askers:
            each.start()
        try:
            for _ in range(2):
                program = serve(start_with(http, devices), **settings)
                program.wait_up()
                wanted.append(len(answers) + 20)
                eventually(lambda: len(answers) > wanted[-1])
                code, errors, _ = program.end()
                assert code == 0, errors
            refused = list(failures)
        finally:
            ended.set()
            # Else the last requests would wait for another server.
            http.close()
            devices.close()
            for each in askers:
                each.join()
    assert refused == []
    assert set(answers) == {200, 400}


def test_several_processes_serve_tls_and_take_a_new_certificate_when_replaced(serve, tmp_path):
    def replace() -> str:
        certificate, key = make_certificate()
        (tmp_path / "certificate.pem").write_bytes(certificate)
        (tmp_path / "key.pem").touch(mode=0o600)
        (tmp_path / "key.pem").write_bytes(key)
        return certificate.decode()

    first = replace()
    program = serve(
        start_program,
        MOTORPOOL_NODES="2",
        MOTORPOOL_HTTP_TLS_CERTIFICATE=str(tmp_path / "certificate.pem"),
        MOTORPOOL_HTTP_TLS_KEY=str(tmp_path / "key.pem"),
    )
    assert program.wait_up() == f"Motorpool is running at https://127.0.0.1:{program.port}/\n"

    def served() -> set[str]:
        return {ssl.get_server_certificate(("127.0.0.1", program.port)) for _ in range(4)}

    assert served() == {first}
    second = replace()
    program.process.send_signal(signal.SIGHUP)
    eventually(lambda: served() == {second})
    answers = [httpx.get(f"https://127.0.0.1:{program.port}/api/health", verify=False).text for _ in range(4)]
    assert answers == ["OK"] * 4
    code, errors, _ = program.end()
    assert code == 0, errors


def test_a_socket_of_systemd_that_nobody_listens_at_ends_the_start(serve):
    with socket.create_server(("127.0.0.1", 0)) as other:
        program = serve(start_with(other))
        _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
        number = other.getsockname()[1]
    assert program.process.returncode == 1
    assert f"motorpool: the service manager has opened 127.0.0.1:{number} (LISTEN_FDS)" in errors


def test_servers_of_a_cluster_have_what_their_roles_say(serve, free_port):
    boss = ("boss@example.org", "secret word")
    fleet = {
        "MOTORPOOL_CLUSTER_NAME": "fleet",
        "MOTORPOOL_ADMIN_EMAIL": boss[0],
        "MOTORPOOL_ADMIN_PASSWORD": boss[1],
    }
    inner = f"http://127.0.0.1:{free_port(1)}"
    gateway = serve(**fleet, MOTORPOOL_NODE_ADDRESS=inner, MOTORPOOL_NODE_ROLES="devices")
    assert gateway.wait_up() == f"Motorpool is running for other servers at {inner}\n"
    front = serve(**fleet, MOTORPOOL_NODE_ROLES="api")
    front.wait_up()
    assert httpx.get(f"{inner}/api/health").text == "OK"
    assert "motorpool_database_available 1.0" in httpx.get(f"{inner}/metrics").text
    assert httpx.get(f"{inner}/api/server", auth=boss).status_code == 403
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{gateway.port}/api/health")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{front.osmand_port}/?id=1")
    refused = httpx.get(f"http://127.0.0.1:{gateway.osmand_port}/?id=1&lat=1&lon=2&timestamp=1790000000")
    assert refused.status_code == 400

    def status() -> Any:
        answer = httpx.get(f"http://127.0.0.1:{front.port}/api/server/status", auth=boss).json()
        roles = sorted(node["roles"] for node in answer["nodes"] if node["isUp"])
        return [each["name"] for each in answer["conditions"]], roles

    # Nobody does what is due, and that is seen, until somebody does.
    eventually(lambda: status() == (["duties"], [["api"], ["devices"]]))
    worker = serve(
        **fleet, MOTORPOOL_NODE_ADDRESS=f"http://127.0.0.1:{free_port(1)}", MOTORPOOL_NODE_ROLES="duties"
    )
    worker.wait_up()
    eventually(lambda: status() == ([], [["api"], ["devices"], ["duties"]]))
    for program in (gateway, front, worker):
        code, errors, _ = program.end()
        assert code == 0, errors


def eventually(probe: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not probe():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_recording_that_cannot_be_written_is_one_line(serve, tmp_path, forks):
    def popen(words: list[str], **options: Any) -> subprocess.Popen[str]:
        return forks.popen([*words, "--record", str(tmp_path / "none" / "traffic")], **options)

    program = serve(popen)
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 1
    assert "none/traffic: No such file or directory" in errors.splitlines()[-1]
    assert "Traceback" not in errors


def test_several_processes_make_no_recording(serve, tmp_path, forks):
    def popen(words: list[str], **options: Any) -> subprocess.Popen[str]:
        return forks.popen([*words, "--record", str(tmp_path / "traffic"), "--nodes", "2"], **options)

    program = serve(popen)
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 2
    assert errors.splitlines()[-1] == "motorpool: --record is for one process: --nodes 1"
    assert not (tmp_path / "traffic").exists()


def test_errors_that_an_operator_cannot_see_to_are_not_one_line():
    assert is_foreseen(OSError(13, "Permission denied"))
    failed = ActorFailed("listener")
    failed.__cause__ = OSError(98, "in use")
    assert is_foreseen(ExceptionGroup("two", [failed, StartFailed("x")]))
    failed.__cause__ = KeyError("a mistake of ours")
    assert not is_foreseen(failed)
    assert not is_foreseen(ExceptionGroup("two", [OSError(), failed]))
    assert not is_foreseen(ActorFailed("without a cause"))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.EADDRINUSE, "the address is in use: end the program that uses it, or change bind"),
        (errno.EACCES, "this user may not: change bind, or let the service have ports below 1024"),
        (errno.EADDRNOTAVAIL, "this machine has no such address: change bind"),
        (errno.EAFNOSUPPORT, "Address family not supported by protocol: see bind"),
    ],
)
def test_why_a_port_cannot_be_listened_on_comes_with_what_to_do(number, text):
    assert bind_problem(OSError(number, os.strerror(number)), "bind").startswith(text)


def test_a_protocol_that_nobody_knows_is_named(serve):
    program = serve(MOTORPOOL_PROTOCOLS="osmand,carrier-pigeon")
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode in {1, 2}
    assert "MOTORPOOL_PROTOCOLS" in errors.splitlines()[-1]
    assert "carrier-pigeon" in errors.splitlines()[-1]


def test_a_database_that_is_not_there_is_one_line_and_a_code(serve):
    program = serve(
        MOTORPOOL_DATABASE="postgresql://nobody@127.0.0.1:1/none", MOTORPOOL_POSTGRES_START_SECONDS="1"
    )
    _, errors = program.process.communicate(timeout=PATIENCE_SECONDS)
    assert program.process.returncode == 1
    assert errors.splitlines()[-1].startswith("motorpool: ")
    assert "Traceback" not in errors


def test_a_signal_during_the_start_ends_it(serve):
    program = serve(MOTORPOOL_DATABASE="postgresql://nobody@127.0.0.1:1/none")
    assert program.process.stderr is not None
    assert "starts" in program.process.stderr.readline()
    code, errors, seconds = program.end()
    assert seconds < 30
    assert "Traceback" not in errors
    assert code == 0


def test_an_unknown_variable_is_one_warning_line(serve):
    program = serve(MOTORPOOL_BNID="x")
    program.wait_up()
    code, errors, _ = program.end()
    assert code == 0
    assert "motorpool: warning: MOTORPOOL_BNID is no setting of this program" in errors


def test_log_lines_can_be_json(serve):
    program = serve(MOTORPOOL_LOG_FORMAT="json")
    program.wait_up()
    _, errors, _ = program.end()
    assert all(line.startswith("{") for line in errors.splitlines())
    assert '"message":"stopped"' in errors


def test_the_last_line_is_the_cause_that_people_understand():
    cause = OSError(98, "cannot listen for jt808 on 0.0.0.0:5015: Address already in use")
    outer = RuntimeError("the start failed")
    outer.__cause__ = ExceptionGroup("several", [cause])
    assert (
        error_line(ExceptionGroup("tree", [outer]))
        == "cannot listen for jt808 on 0.0.0.0:5015: Address already in use"
    )
    assert error_line(StartFailed("one\ntwo")) == "one"
    assert (
        error_line(OSError(2, "No such file or directory", "x.toml")) == "x.toml: No such file or directory"
    )
    assert error_line(RuntimeError()) == "RuntimeError"


async def test_threads_that_compute_hardly_delay_the_event_loop(monkeypatch):
    seen = []

    async def run(*_, **__):
        seen.append(sys.getswitchinterval())

    monkeypatch.setattr(serve_program, "_run_server", run)
    before = sys.getswitchinterval()
    try:
        assert await serve_program.serve(Settings()) is False
    finally:
        sys.setswitchinterval(before)
    # Python's own is 0.005.
    assert seen == [pytest.approx(0.0001)]


async def test_stored_names_that_two_users_log_in_with_are_one_warning(database, caplog):
    await warn_of_shared_names(database)
    assert caplog.text == ""
    await database.execute("insert into users (email) values ('root'), ('x\ny')")
    await database.execute("insert into users (email, login) values ('a@b', 'ROOT'), ('c@d', 'X\nY')")
    await warn_of_shared_names(database)
    (warning,) = caplog.messages
    assert "'root' (e-mail address of user 1, login name of 3), 'x\\ny'" in warning
    assert "\n" not in warning


async def in_use(database, given):
    live = await open_live_settings(database, given)
    warn_of_retention(live)
    return live.settings


async def test_unset_retention_deletes_in_new_databases_only_and_the_log_says_so(database, caplog):
    given = Settings(positions=PositionSettings(retention_days=5))
    new = await in_use(database, given)
    assert (new.positions.retention_days, new.events.retention_days, new.files.quota_bytes) == (
        5,
        730,
        10 << 30,
    )
    assert caplog.text == ""
    await database.execute("update installation set has_retention_defaults = false")
    try:
        old = await in_use(database, given)
    finally:
        await database.execute("update installation set has_retention_defaults = true")
    assert old.positions.retention_days == 5
    for section, name in RETENTION_DEFAULTS:
        if section != "positions":
            assert getattr(getattr(old, section), name) == 0
            assert f"[{section}] {name}" in caplog.text
    assert "[positions]" not in caplog.text
    assert caplog.text.count("made before there was a default retention") == 1


async def test_each_request_to_restart_one_of_several_processes_is_passed_on_to_their_supervisor(monkeypatch):
    class Supervisor:
        asked = 0

        async def ask_for_restart(self):
            self.asked += 1

        async def follow(self, on_end):
            await trio.sleep_forever()

    states = []

    async def run(settings, state, **more):
        states.append(state)
        await trio.sleep_forever()

    monkeypatch.setattr(serve_program, "_run_server", run)
    # Of this process, for all tests after this one.
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(serve_program.serve, Settings(), supervised=supervisor))
        await trio.testing.wait_all_tasks_blocked()
        for count in (1, 2):
            states[0].restart_requested.set()
            await trio.testing.wait_all_tasks_blocked()
            assert supervisor.asked == count
        # It does not stop by itself.
        assert not states[0].stopping.is_set()
        nursery.cancel_scope.cancel()
