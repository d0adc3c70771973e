"""What is known of the machine and its processes."""

import os
import subprocess
import sys
import time

import pytest

from motorpool.bench import machine


def test_the_facts_name_machine_interpreter_and_packages() -> None:
    facts = machine.facts()
    assert facts["cores"] == len(os.sched_getaffinity(0))
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"processor", "memory_mb", "commit", "trio", "asyncpg"} <= facts.keys()


def test_cpu_time_grows_with_work() -> None:
    before = machine.cpu_seconds(os.getpid())
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert machine.cpu_seconds(os.getpid()) - before == pytest.approx(0.1, abs=0.03)


def test_waiting_for_a_core_is_counted_where_two_programs_have_one() -> None:
    endless = [sys.executable, "-c", "while True: pass"]
    cores = os.sched_getaffinity(0)
    with subprocess.Popen(endless) as first, subprocess.Popen(endless) as second:
        try:
            for process in (first, second):
                os.sched_setaffinity(process.pid, {min(cores)})
            before, begun = machine.waiting_seconds(second.pid), time.perf_counter()
            time.sleep(0.6)
            waited, elapsed = machine.waiting_seconds(second.pid) - before, time.perf_counter() - begun
        finally:
            first.kill()
            second.kill()
    # Half of the time each, or less where others have that core as well.
    assert elapsed * 0.3 < waited < elapsed


def test_memory_grows_with_what_is_held() -> None:
    before = machine.resident_bytes(os.getpid())
    held = b"x" * 50_000_000
    assert 40_000_000 < machine.resident_bytes(os.getpid()) - before < 80_000_000
    assert held


def test_children_are_found_and_a_process_that_is_gone_is_an_error() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in machine.children(os.getpid())
        assert machine.command_line(child.pid) == [sys.executable, "-c", "input()"]
        child.kill()
        child.wait()
    with pytest.raises(ProcessLookupError):
        machine.cpu_seconds(child.pid)
