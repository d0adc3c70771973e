"""The supervisor of several processes, on real processes that are no servers."""

import logging
import os
import signal
import sys
import textwrap
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio

from motorpool.actors.cluster.change_relay import CHANNEL
from motorpool.actors.gateway.machine_load import new_page
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.nodes import node_process
from motorpool.api.nodes.control import Plan
from motorpool.api.program import supervisor as module
from motorpool.api.program.errors import StartFailed
from motorpool.api.program.supervisor import Supervisor, node_count
from motorpool.api.settings import ClusterSettings, NodeSettings, Settings
from motorpool.runtime import Signal
from motorpool.storage.cluster.broadcast import open_broadcast
from motorpool.storage.database import nodes
from motorpool.storage.postgres.data_lock import DataLock

PROGRAM = """
    import json, os, signal, socket, sys
    channel = socket.socket(fileno=int(sys.argv[-1]))
    lines = channel.makefile("rb")
    plan = json.loads(lines.readline())
    folder = sys.argv[1]
    started = os.path.join(folder, f"{plan['index']}")
    with open(started, "a") as file:
        file.write(f"{os.getpid()} {plan['address']}\\n")
    if os.path.exists(os.path.join(folder, f"freezes{plan['index']}")):
        os.kill(os.getpid(), signal.SIGSTOP)
    number = int(open(os.path.join(folder, f"row{plan['index']}")).read())
    tell = lambda **message: channel.sendall(json.dumps(message).encode() + b"\\n")
    tell(type="Joined", node=number, url="http://127.0.0.1:1", key="key")
    if os.path.exists(os.path.join(folder, f"fails{plan['index']}")):
        tell(type="Failed", line="the port is taken")
        sys.exit(1)
    tell(type="Ready")
    if os.path.exists(os.path.join(folder, f"mad{plan['index']}")):
        channel.sendall(b"\\x00nonsense\\n")
        lines.read()
    if os.path.exists(os.path.join(folder, "restarts")):
        os.unlink(os.path.join(folder, "restarts"))
        tell(type="RestartAsked")
    for line in lines:
        if json.loads(line)["type"] == "Leave":
            open(os.path.join(folder, f"left{plan['index']}"), "w").close()
            if not os.path.exists(os.path.join(folder, "stays")):
                break
"""


class Machine:
    """A supervisor of the program, and what its processes have noted."""

    def __init__(self, database, folder, monkeypatch):
        self._database, self.folder = database, folder
        monkeypatch.setattr(module, "PAUSES", (0.01, 0.05))
        self.replacement = Signal()
        self.plan = Plan(
            index=0,
            cluster="north",
            database="postgresql://x",
            address="http://127.0.0.1:900",
            http=(),
            devices={},
            load=new_page(),
            roles=("devices",),
            data=str(folder),
            device_host="127.0.0.1",
            port_offset=0,
            protocols=None,
        )

    @asynccontextmanager
    async def running(self, count=2):
        for index in range(3):
            async with self._database.session() as session:
                node = await nodes.join(session, "north", "here", "0")
            (self.folder / f"row{index}").write_text(str(node))
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(self.folder)]
        supervisor = Supervisor(self._database, self.plan, command, os.environ, self.replacement, None)
        async with trio.open_nursery() as nursery:
            await nursery.start(supervisor.run, count)
            yield supervisor
            nursery.cancel_scope.cancel()

    def starts(self, index):
        """The process ids of the starts of a server, with its address."""
        path = self.folder / str(index)
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def row(self, index):
        return int((self.folder / f"row{index}").read_text())

    async def states(self):
        rows = await self._database.fetch("select id, state from nodes")
        return {row[0]: row[1] for row in rows}


@pytest.fixture
def machine(database, tmp_path, monkeypatch):
    made = Machine(database, tmp_path, monkeypatch)
    yield made
    os.close(made.plan.load)


async def until(condition):
    with trio.fail_after(60):
        while not condition():  # noqa: ASYNC110 - processes are looked at
            await trio.sleep(0.01)


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_servers_have_ports_of_their_own_and_end_with_the_supervisor(machine):
    async with machine.running():
        (first,), (second,) = machine.starts(0), machine.starts(1)
        assert [first[1], second[1]] == ["http://127.0.0.1:900", "http://127.0.0.1:901"]
    assert not lives(int(first[0]))
    assert not lives(int(second[0]))


async def test_one_that_is_killed_is_dead_at_once_and_started_again(machine, database):
    async with open_broadcast(database, CHANNEL) as channel, machine.running():
        os.kill(int(machine.starts(1)[0][0]), signal.SIGKILL)
        with trio.fail_after(60):
            text = await channel.receive()
        assert text == f'[{{"type":"ServerEnded","node":{machine.row(1)}}}]'
        assert (await machine.states())[machine.row(1)] == "dead"
        assert (await machine.states())[machine.row(0)] == "live"
        await until(lambda: len(machine.starts(1)) == 2)
        assert len(machine.starts(0)) == 1


async def test_one_that_ends_again_and_again_is_waited_for_longer(machine, caplog):
    caplog.set_level(logging.WARNING)
    async with machine.running():
        (machine.folder / "fails1").touch()
        os.kill(int(machine.starts(1)[0][0]), signal.SIGKILL)
        await until(lambda: len(machine.starts(1)) == 6)
    told = [record.getMessage() for record in caplog.records]
    assert told[:4] == [
        "node 1 was ended by SIGKILL; it is started again in 0.01 s",
        "node 1 ended with code 1: the port is taken; it is started again in 0.02 s",
        "node 1 ended with code 1: the port is taken; it is started again in 0.04 s",
        "node 1 ended with code 1: the port is taken; it is started again in 0.05 s",
    ]


async def test_one_that_is_dead_for_the_others_and_does_not_notice_is_killed(
    machine, database, monkeypatch, caplog
):
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    async with machine.running():
        await nodes.leave(database, machine.row(1))
        (machine.folder / "row1").write_text(str(machine.row(2)))
        await until(lambda: len(machine.starts(1)) == 2)
        assert "is frozen, and is killed" in caplog.text
        assert not lives(int(machine.starts(1)[0][0]))
        assert len(machine.starts(0)) == 1


async def test_one_that_says_what_nobody_understands_is_replaced(machine, caplog):
    async with machine.running():
        (machine.folder / "mad1").touch()
        os.kill(int(machine.starts(1)[0][0]), signal.SIGKILL)
        await until(lambda: len(machine.starts(1)) == 3)
        (machine.folder / "mad1").unlink()
        assert len(machine.starts(0)) == 1
        assert lives(int(machine.starts(0)[0][0]))
    assert "no message of the control channel" in caplog.text


async def test_a_server_that_fails_at_the_start_ends_all(machine):
    (machine.folder / "fails1").touch()
    with pytest.RaisesGroup(pytest.RaisesExc(StartFailed, match="the port is taken"), flatten_subgroups=True):
        async with machine.running():
            raise AssertionError
    assert not any(lives(int(pid)) for index in range(2) for pid, _ in machine.starts(index))


async def test_all_are_replaced_each_by_one_that_is_ready_before(machine):
    (machine.folder / "restarts").touch()
    async with machine.running():
        # The third takes the place of the first, the first index then that of the second.
        await until(lambda: len(machine.starts(0)) == 2)
        assert [len(machine.starts(index)) for index in range(3)] == [2, 1, 1]
        await until(lambda: not lives(int(machine.starts(1)[0][0])))
        assert lives(int(machine.starts(0)[1][0]))
        assert lives(int(machine.starts(2)[0][0]))


async def test_one_that_does_not_start_in_the_place_of_another_leaves_all_as_they_are(machine, caplog):
    (machine.folder / "fails2").touch()
    async with machine.running():
        machine.replacement.set()
        await until(lambda: "all others stay" in caplog.text)
        assert lives(int(machine.starts(0)[0][0]))
        assert lives(int(machine.starts(1)[0][0]))
        # The next attempt succeeds.
        (machine.folder / "fails2").unlink()
        machine.replacement.set()
        await until(lambda: len(machine.starts(0)) == 2)


async def test_a_frozen_one_delays_its_replacement_and_no_other(machine, monkeypatch):
    monkeypatch.setattr(module, "LEAVE_SECONDS", 0.2)
    monkeypatch.setattr(node_process, "STOP_SECONDS", 0.2)
    async with machine.running():
        frozen = int(machine.starts(0)[0][0])
        os.kill(frozen, signal.SIGSTOP)
        machine.replacement.set()
        await until(lambda: len(machine.starts(0)) == 2)
        await until(lambda: not lives(int(machine.starts(1)[0][0])))
        assert not lives(frozen)
        assert lives(int(machine.starts(2)[0][0]))


async def test_one_that_freezes_as_it_takes_the_place_of_another_changes_nothing(
    machine, monkeypatch, caplog
):
    monkeypatch.setattr(module, "START_SECONDS", 1.0)
    monkeypatch.setattr(node_process, "STOP_SECONDS", 0.2)
    (machine.folder / "freezes2").touch()
    async with machine.running():
        machine.replacement.set()
        await until(lambda: "is not ready after 1 s: all others stay" in caplog.text)
        await until(lambda: not lives(int(machine.starts(2)[0][0])))
        assert [lives(int(machine.starts(index)[0][0])) for index in range(2)] == [True, True]


async def test_the_end_is_in_order_while_one_is_being_replaced(machine, caplog):
    caplog.set_level(logging.INFO)
    (machine.folder / "stays").touch()
    async with machine.running():
        machine.replacement.set()
        # The first does not leave although it is told to.
        await until(lambda: len(machine.starts(2)) == 1)
        await until((machine.folder / "left0").exists)
    processes = [int(pid) for index in range(3) for pid, _ in machine.starts(index)]
    assert len(processes) == 3
    assert not any(lives(pid) for pid in processes)


async def test_those_who_are_to_be_replaced_again_are_so_once_more(machine):
    async with machine.running():
        machine.replacement.set()
        await until(lambda: len(machine.starts(2)) == 1)
        for _ in range(3):
            machine.replacement.set()
        # Of six starts the first two are those before, and two each belong to a round.
        await until(lambda: sum(len(machine.starts(index)) for index in range(3)) == 6)
        await trio.sleep(0.5)
        assert sum(len(machine.starts(index)) for index in range(3)) == 6
        living = [pid for index in range(3) for pid, _ in machine.starts(index) if lives(int(pid))]
        assert len(living) == 2


def test_supervisors_have_the_same_name_only_on_the_same_data_folder(tmp_path):
    """Whatever their hosts and paths are called: containers often have the same."""
    names = []
    for folder in ("one", "other", "one"):
        with DataLock(tmp_path / folder) as lock:
            names.append(module._name_of(lock.descriptor))
    assert names[0] == names[2] != names[1]


def test_the_number_of_processes_leaves_a_core_to_the_embedded_database(monkeypatch):
    monkeypatch.setattr(module, "usable_cores", lambda: 4)
    assert node_count(Settings()) == 1
    assert node_count(Settings(nodes=3)) == 3
    assert node_count(Settings(nodes=0)) == 3
    assert node_count(Settings(nodes=0, database="postgresql://x")) == 4
    monkeypatch.setattr(module, "usable_cores", lambda: 1)
    assert node_count(Settings(nodes=0)) == 1


def test_processes_of_a_cluster_need_an_address_that_other_machines_reach():
    settings = Settings(nodes=2, database="postgresql://x", cluster=ClusterSettings(name="north"))
    with pytest.raises(SettingsError, match=r"need \[node\] address"):
        node_count(settings)
    assert node_count(replace(settings, node=NodeSettings(address="http://10.0.0.5:8083"))) == 2
