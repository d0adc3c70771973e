"""The reference for `reports`: the positions of devices in their order, decoded and dropped.

`python -m motorpool.bench.load.ordered_read` reads an OrderedReadLoad from standard input and writes an
OrderedReadResult to standard output.
"""

import asyncio
import sys
import time

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import msgspec

from motorpool.bench.load.output import write_message
from motorpool.bench.load.plan import OrderedReadLoad, OrderedReadResult

BATCH = 1000
_READ = (
    "select id, fix_time, latitude, longitude, (attributes -> 'distance')::float8, speed from positions"
    " where device_id = $1 and fix_time between $2 and $3 order by fix_time, id"
)


async def read(load: OrderedReadLoad) -> OrderedReadResult:
    """Read the positions of each device by a cursor."""
    connection = await asyncpg.connect(**load.database)
    try:
        rows = 0
        begin, cpu = time.perf_counter(), time.process_time()
        for device_id in load.device_ids:
            async with connection.transaction(readonly=True):
                cursor = await connection.cursor(_READ, device_id, load.start, load.end)
                while batch := await cursor.fetch(BATCH):
                    rows += len(batch)
        return OrderedReadResult(
            seconds=time.perf_counter() - begin, cpu_seconds=time.process_time() - cpu, rows=rows
        )
    finally:
        await connection.close()


if __name__ == "__main__":
    write_message(asyncio.run(read(msgspec.json.decode(sys.stdin.readline(), type=OrderedReadLoad))))
