import logging

import pytest
import trio

from motorpool.actors import broadcasts
from motorpool.actors.broadcasts import serve_broadcast
from motorpool.runtime import ActorStopped
from motorpool.storage.broadcast import open_broadcast
from motorpool.storage.errors import StorageUnavailable

LOG = logging.LoggerAdapter(logging.getLogger(__name__), {})


class Broken(Exception):
    """Anything that nobody expects."""


async def test_a_lost_channel_is_opened_again_and_any_other_error_ends_the_loop(
    database, monkeypatch, caplog
):
    monkeypatch.setattr(broadcasts, "RETRY_SECONDS", 0.01)
    served = []

    async def serve(channel):
        served.append(channel)
        async with open_broadcast(database, "test") as other:
            await other.send([f"text {len(served)}"])
        assert await channel.receive() == f"text {len(served)}"
        match len(served):
            case 1:
                raise StorageUnavailable("the connection is lost")
            case 2:
                async with trio.open_nursery():
                    raise ActorStopped("directory")
            case _:
                raise Broken

    with trio.fail_after(30), pytest.RaisesGroup(Broken, allow_unwrapped=True):
        await serve_broadcast(database, "test", serve, LOG)
    assert len(set(served)) == 3
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [
        "no connection to other servers, trying again"
    ] * 2
