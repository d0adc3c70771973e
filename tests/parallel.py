"""Runs the tests in several processes: `pytest --numprocesses 6`, or `-n 6`.

The process that is started collects all tests, and the others are forked from it: they have every test and
every module already. Each of them is given all tests of one file at a time, in the order of the collection,
so that the fixtures of a module are made once. Their reports are handled as if the tests had run here.
"""

import math
import os
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.config import create_terminal_writer

_FORK = get_context("fork")
_END_SECONDS = 60.0
"""How long a process may take to end the fixtures of its session."""
_DEATHS = 20
"""How many processes are replaced; where more have died, it is hardly because of the tests that they ran."""


def pytest_addoption(parser: pytest.Parser) -> None:
    # As pytest-xdist does, since addoption() keeps short options for pytest itself.
    parser.getgroup("parallel")._addoption(
        "-n", "--numprocesses", type=int, default=0, metavar="N", help="run the tests in N processes"
    )


def pytest_configure() -> None:
    # NumPy would start a thread as soon as it is imported: only a process of one thread forks safely.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    options = session.config.option
    # Else pytest says itself what there is to say.
    if not options.numprocesses or options.collectonly or session.testsfailed:
        return None
    if options.usepdb or options.trace:
        raise pytest.UsageError("a debugger needs the tests in one process, without --numprocesses")
    Workers(session, options.numprocesses).run()
    return True


class Workers:
    """The processes that run the tests of a session, as the one sees them that has collected the tests."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self._session = session
        self._hook = session.config.hook
        files: dict[Path, list[int]] = {}
        for place, item in enumerate(session.items):
            files.setdefault(item.path, []).append(place)
        self._files = deque(files.values())
        """Tests that no process was given yet: for each file, their places in the collection."""
        self._count = min(count, len(files))
        self._workers: dict[Connection[Any, Any], Worker] = {}
        self._numbers = 0
        self._deaths = 0

    def run(self) -> None:
        """Run all tests; as pytest does, raise Session.Failed after as many failures as are allowed."""
        reporter: Any = self._session.config.pluginmanager.get_plugin("terminalreporter")
        # Tests of several files take turns, so that no line belongs to one file.
        reporter.showfspath = False
        # Made here, and not by each process for itself: the end of this one removes it.
        _temporary(self._session.config).getbasetemp()
        try:
            for _ in range(self._count):
                self._start()
            while self._workers:
                for connection in wait(list(self._workers), timeout=1.0):
                    self._hear(self._workers[connection])  # type: ignore[index]
                for worker in self._workers.values():
                    worker.end_overdue()
                if self._session.shouldfail:
                    raise self._session.Failed(self._session.shouldfail)
                if self._session.shouldstop:
                    raise self._session.Interrupted(self._session.shouldstop)
        finally:
            self._interrupt()

    def _start(self) -> None:
        self._numbers += 1
        ours, theirs = _FORK.Pipe()
        arguments = (self._session, self._numbers, theirs, [ours, *self._workers])
        process = _FORK.Process(target=_work, args=arguments)
        process.start()
        theirs.close()
        self._workers[ours] = Worker(process, ours)

    def _hear(self, worker: "Worker") -> None:
        """Handle a message of the process, or its end."""
        try:
            kind, content = worker.connection.recv()
        except (EOFError, ConnectionError):
            self._end(worker)
            return
        if kind == "free":
            worker.give(self._files.popleft() if self._files else [])
        elif kind == "started":
            worker.running = worker.given.popleft()
        elif kind == "report":
            report = self._hook.pytest_report_from_serializable(config=self._session.config, data=content)
            self._hook.pytest_runtest_logreport(report=report)
        else:
            self._hook.pytest_warning_recorded.call_historic(kwargs=_unpack_warning(content))

    def _end(self, worker: "Worker") -> None:
        del self._workers[worker.connection]
        code = worker.join()
        if code == 0:
            return
        cause = f"a {signal.Signals(-code).name} ended" if code < 0 else f"code {code} was the end of"
        item = None if worker.running is None else self._session.items[worker.running]
        report = _failure(item, f"{cause} the process of this test")
        self._hook.pytest_runtest_logreport(report=report)
        if worker.given:
            self._files.appendleft(list(worker.given))
        self._deaths += 1
        if self._deaths > _DEATHS:
            self._session.shouldfail = f"{self._deaths} processes of tests have died"
        elif self._files:
            self._start()

    def _interrupt(self) -> None:
        """End the processes that still run, as Ctrl-C ends pytest."""
        for worker in self._workers.values():
            worker.interrupt()
        for worker in self._workers.values():
            worker.join()


class Worker:
    """A process that runs tests, as the one sees it that has collected them."""

    def __init__(self, process: Any, connection: "Connection[Any, Any]") -> None:
        self._process = process
        self.connection = connection
        self.given: deque[int] = deque()
        """Tests that it was given and has not begun."""
        self.running: int | None = None
        """The test that it began last, while it has any."""
        self._deadline = math.inf
        """When it must have ended."""

    def give(self, places: list[int]) -> None:
        """Give it the tests at these places of the collection, or none to have it end."""
        self.given = deque(places)
        self.running = None
        if not places:
            self._deadline = time.monotonic() + _END_SECONDS
        try:
            self.connection.send(places)
        except ConnectionError:
            """Its end is read from the connection next."""

    def end_overdue(self) -> None:
        """Kill it if its fixtures take too long to end; that is read from the connection next."""
        if time.monotonic() > self._deadline:
            self._process.kill()

    def interrupt(self) -> None:
        os.kill(self._process.pid, signal.SIGINT)

    def join(self) -> int:
        """Wait until it has ended, and make it end where that takes too long; return with what code."""
        self.connection.close()
        self._process.join(_END_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        return int(self._process.exitcode)


def _failure(item: pytest.Item | None, text: str) -> pytest.TestReport:
    """Return the failure of a test, or an error of the fixtures that all tests of a process share."""
    if item is None:
        return pytest.TestReport(
            "tests", ("tests", None, "fixtures of the session"), {}, "failed", text, "teardown"
        )
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")


def _pack_warning(warning: warnings.WarningMessage, **options: Any) -> tuple[Any, ...]:
    # As text, since a warning may hold anything.
    return warning.category.__name__, str(warning.message), warning.filename, warning.lineno, options


def _unpack_warning(packed: tuple[Any, ...]) -> dict[str, Any]:
    category, text, filename, line, options = packed
    message = warnings.WarningMessage(text, type(category, (Warning,), {}), filename, line)
    return {"warning_message": message, **options}


def _work(
    session: pytest.Session,
    number: int,
    connection: "Connection[Any, Any]",
    others: "Iterable[Connection[Any, Any]]",
) -> None:
    """Run tests in this process, which was forked for it, until there are no more."""
    for other in others:
        other.close()
    # Ctrl-C is for the process that was started, which interrupts this one once.
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _separate(session.config, number)
    reporter = Reporter(session.config, connection)
    session.config.pluginmanager.register(reporter)
    try:
        while places := reporter.ask():
            _run([session.items[place] for place in places], reporter)
    except (KeyboardInterrupt, EOFError, ConnectionError):
        """The run was ended before all tests were run."""
    # What began to end ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        session._setupstate.teardown_exact(None)
    except BaseException:
        with suppress(ConnectionError):
            reporter.send_report(_failure(None, traceback.format_exc()))


def _separate(config: pytest.Config, number: int) -> None:
    """Give up what this process shares with the one that it was forked from."""
    plugins: Any = config.pluginmanager
    capture = plugins.get_plugin("capturemanager")
    # The file that keeps what is written has one position in all processes.
    capture.stop_global_capturing()
    capture.start_global_capturing()
    writer = create_terminal_writer(config, sys.stderr)
    capture.suspend_global_capture()
    plugins.unregister(name="terminalreporter")
    # What pytest-timeout writes belongs to the test.
    plugins.register(SimpleNamespace(_tw=writer), "terminalreporter")
    temporary = _temporary(config)
    temporary._basetemp = temporary.getbasetemp() / f"process{number}"
    temporary._basetemp.mkdir(mode=0o700)


def _temporary(config: pytest.Config) -> Any:
    """Return what makes folders for temporary files."""
    return getattr(config, "_tmp_path_factory")  # noqa: B009 - the fixture uses nothing else


def _run(items: Sequence[pytest.Item], reporter: "Reporter") -> None:
    """Run all tests of a file; at the end only the fixtures of the session are left."""
    session: Any = items[0].session
    for item, following in zip(items, [*items[1:], session], strict=True):
        reporter.send("started")
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


class Reporter:
    """Tells the process that has collected the tests what happens in this one."""

    def __init__(self, config: pytest.Config, connection: "Connection[Any, Any]") -> None:
        self._config = config
        self._connection = connection

    def send(self, kind: str, content: Any = None) -> None:
        self._connection.send((kind, content))

    def ask(self) -> list[int]:
        """Ask for tests to run; return their places in the collection, none at the end."""
        self.send("free")
        return self._connection.recv()  # type: ignore[no-any-return]

    def send_report(self, report: pytest.TestReport) -> None:
        self.send(
            "report", self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.send_report(report)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        self.send("warning", _pack_warning(warning_message, when=when, nodeid=nodeid, location=location))
