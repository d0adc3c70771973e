"""The actor that writes the log of commands, on the real table."""

from motorpool.actors.devices import command_log
from motorpool.actors.devices.command_log import CommandLog
from motorpool.actors.messages.command_log import (
    COMMAND_LOG,
    COMMAND_LOG_ROWS,
    COMMANDS,
    CommandsChanged,
    RowsChanged,
)
from motorpool.runtime import ChildSpec


async def test_rows_are_read_only_while_somebody_looks_at_the_log(database, tree, time, monkeypatch):
    read = []

    async def fetch(_, ids):
        read.append(set(ids))
        return ()

    monkeypatch.setattr(command_log.command_log, "fetch", fetch)
    spec = ChildSpec(kind=COMMAND_LOG, factory=lambda: CommandLog(database, 0))
    async with tree(spec) as system:
        await time.settle()
        rows = system.topic(COMMAND_LOG_ROWS)
        rows.publish(RowsChanged((1,)))
        await time.passes(1)
        async with system.topic(COMMANDS).subscribe() as looking:
            rows.publish(RowsChanged((2,)))
            rows.publish(RowsChanged((3,)))
            assert await looking.receive_batch() == [CommandsChanged(())]
        await time.passes(1)
        rows.publish(RowsChanged((4,)))
        await time.settle()
    assert read == [{2, 3}]
