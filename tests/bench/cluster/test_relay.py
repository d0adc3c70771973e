"""A relay passes bytes on, keeps them while it is cut, and passes them on when it is mended."""

import trio
from trio.testing import wait_all_tasks_blocked

from motorpool.bench.cluster.relay import SOCKET, Relay


async def test_a_relay_that_is_cut_keeps_connections_and_what_they_carry(tmp_path) -> None:
    target, place = tmp_path / "target", tmp_path / "place"
    for folder in (target, place):
        folder.mkdir()
    listening = trio.socket.socket(trio.socket.AF_UNIX)
    await listening.bind(str(target / SOCKET))
    listening.listen()
    relay = Relay(place, target)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            await nursery.start(relay.run)
            async with await trio.open_unix_socket(str(place / SOCKET)) as client:
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
    assert not (place / SOCKET).exists()
