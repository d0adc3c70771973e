"""What a supervisor and its servers tell each other, over a real pair of sockets."""

import socket

import pytest
import trio

from motorpool.api.nodes.control import (
    MAX_BYTES,
    Channel,
    Failed,
    Joined,
    Plan,
    Ready,
    receive_plan,
    send_line,
)

PLAN = Plan(
    index=1,
    cluster="north",
    database="postgresql://x",
    address="http://127.0.0.1:0",
    http=(3,),
    devices={5: 4},
    load=6,
    roles=("devices",),
    data="data",
    device_host="0.0.0.0",
    port_offset=0,
    protocols=None,
)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


async def test_messages_arrive_in_order_after_the_plan_and_the_end_is_noticed(pair):
    ours, theirs = pair
    channel = Channel(ours)
    assert await channel.send(PLAN)
    plan, connection = await trio.to_thread.run_sync(receive_plan, theirs.detach())
    assert plan == PLAN
    other = Channel(connection)
    assert await other.send(Joined(7, "http://127.0.0.1:1", "key"))
    assert await other.send(Ready())
    send_line(connection, Failed("it ends"))
    await other.aclose()
    assert [each async for each in channel.messages()] == [
        Joined(7, "http://127.0.0.1:1", "key"),
        Ready(),
        Failed("it ends"),
    ]
    assert not await channel.send(Ready())


async def test_a_supervisor_that_is_gone_gives_no_plan(pair):
    ours, theirs = pair
    ours.close()
    with pytest.raises(OSError, match="the supervisor has ended"):
        await trio.to_thread.run_sync(receive_plan, theirs.detach())


async def test_a_message_has_a_limit(pair):
    ours, theirs = pair
    async with trio.open_nursery() as nursery:
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(theirs))
        nursery.start_soon(stream.send_all, b"x" * (2 * MAX_BYTES))
        with pytest.raises(ValueError, match="too long"):
            [each async for each in Channel(ours).messages()]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "line", [b"nonsense", b"{}", b'{"type":"Ready"', b'{"type":"Boot"}', b"\xff\x00", b""]
)
async def test_what_is_no_message_is_told_as_such(pair, line):
    ours, theirs = pair
    theirs.sendall(b'{"type":"Ready"}\n' + line + b"\n")
    messages = Channel(ours).messages()
    assert await anext(messages) == Ready()
    with pytest.raises(ValueError, match="no message of the control channel"):
        await anext(messages)


async def test_one_that_takes_no_more_sees_the_end_and_no_part_of_a_message_as_another(pair):
    ours, theirs = pair
    channel = Channel(ours)
    long = Failed("x" * (MAX_BYTES // 2))
    with trio.move_on_after(0.2) as waited:
        await channel.send(long)
    assert waited.cancelled_caught
    assert not await channel.send(Ready())
    assert [each async for each in Channel(theirs).messages()] == []


async def test_a_message_that_waits_behind_another_may_be_given_up(pair):
    ours, theirs = pair
    channel = Channel(ours)
    long = Failed("x" * (MAX_BYTES // 2))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.send, long)
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(0.05) as waited:
            await channel.send(Ready())
        assert waited.cancelled_caught
        messages = Channel(theirs).messages()
        assert await anext(messages) == long
    assert await channel.send(Joined(1, "", ""))
    assert await anext(messages) == Joined(1, "", "")
    await messages.aclose()
