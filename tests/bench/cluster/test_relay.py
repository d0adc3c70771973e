"""A relay passes bytes on, keeps them while it is cut, and passes them on when it is mended."""

from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from motorpool.bench.cluster.relay import Address, Relay
from motorpool.bench.free_ports import free_port


@pytest.fixture(params=["unix", "tcp"])
def addresses(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Address, Address]:
    """Where the client connects, and where the other program listens."""
    if request.param == "tcp":
        return ("127.0.0.1", free_port()), ("127.0.0.1", free_port())
    return tmp_path / "place", tmp_path / "target"


async def connect(address: Address) -> trio.SocketStream:
    if isinstance(address, Path):
        return await trio.open_unix_socket(str(address))
    return await trio.open_tcp_stream(*address)


async def test_a_relay_that_is_cut_keeps_connections_and_what_they_carry(
    addresses: tuple[Address, Address],
) -> None:
    address, target = addresses
    is_file = isinstance(target, Path)
    listening = trio.socket.socket(trio.socket.AF_UNIX if is_file else trio.socket.AF_INET)
    await listening.bind(str(target) if is_file else target)
    listening.listen()
    relay = Relay(address, target)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            await nursery.start(relay.run)
            async with await connect(address) as client:
                server = trio.SocketStream((await listening.accept())[0])
                await client.send_all(b"before")
                assert await server.receive_some() == b"before"

                relay.cut()
                await client.send_all(b"during")
                await wait_all_tasks_blocked()
                with trio.move_on_after(0.05) as waiting:
                    await server.receive_some()
                assert waiting.cancelled_caught

                relay.mend()
                assert await server.receive_some() == b"during"
                await server.send_all(b"back")
                assert await client.receive_some() == b"back"
                await server.aclose()
                assert await client.receive_some() == b""
            nursery.cancel_scope.cancel()
    listening.close()
    assert not isinstance(address, Path) or not address.exists()
