"""Servers of a machine that share listening sockets, as systems of one process on real sockets."""

import os
import socket

import pytest
import trio

from motorpool.actors.gateway import machine_load
from motorpool.actors.gateway.machine_load import (
    DEVICES,
    HTTP,
    MARGIN,
    MAX_SERVERS,
    MachineLoad,
    ServerLoad,
    new_page,
)


@pytest.fixture
def page():
    descriptor = new_page()
    yield descriptor
    os.close(descriptor)


def server(page, index, kind=DEVICES):
    """A server as another process would see the page."""
    return ServerLoad(MachineLoad(page), index, kind)


def test_a_server_is_shy_beside_one_that_has_fewer(page):
    first, second = server(page, 0), server(page, MAX_SERVERS - 1)
    first.add(MARGIN)
    assert not first.is_shy
    first.add(1)
    assert first.is_shy
    assert not second.is_shy
    second.add(1)
    assert not first.is_shy
    first.add(1000)
    second.add(1000)
    assert not first.is_shy
    second.add(-100)
    assert first.is_shy


def test_kinds_are_counted_apart(page):
    devices, http = server(page, 0, DEVICES), server(page, 0, HTTP)
    server(page, 1, DEVICES)
    server(page, 1, HTTP)
    devices.add(100)
    assert devices.is_shy
    assert not http.is_shy


def test_nobody_waits_for_a_server_that_is_not_there_or_leaves(page):
    first = server(page, 0)
    first.add(100)
    assert not first.is_shy
    second = server(page, 1)
    assert first.is_shy
    second.leave()
    second.add(1)
    assert not first.is_shy
    server(page, 2)
    assert first.is_shy
    MachineLoad(page).remove(2)
    assert not first.is_shy


async def test_connections_go_to_the_server_that_has_fewer(page, monkeypatch):
    # So long that the other one is always quicker.
    monkeypatch.setattr(machine_load, "SHY_SECONDS", 5.0)
    got = {0: 0, 1: 0}

    async def accept(index, load, listening):
        with listening:
            while True:
                accepted, _ = await load.accept(listening)
                accepted.close()
                got[index] += 1
                load.add(1)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        loads = server(page, 0), server(page, 1)
        loads[0].add(30)
        async with trio.open_nursery() as nursery:
            for index, load in enumerate(loads):
                nursery.start_soon(accept, index, load, listening.dup())
            with trio.fail_after(60):
                for _ in range(10):
                    with socket.create_connection(listening.getsockname()):
                        count = sum(got.values())
                        while sum(got.values()) == count:  # noqa: ASYNC110 - numbers of the test
                            await trio.sleep(0.001)
            nursery.cancel_scope.cancel()
    assert got == {0: 0, 1: 10}


async def test_a_shy_server_accepts_after_a_moment_where_nobody_else_does(page, autojump_clock):
    first = server(page, 0)
    server(page, 1)
    first.add(100)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        with socket.create_connection(listening.getsockname()):
            began = trio.current_time()
            accepted, _ = await first.accept(listening)
            accepted.close()
            assert trio.current_time() - began == pytest.approx(machine_load.SHY_SECONDS)
