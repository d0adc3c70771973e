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
