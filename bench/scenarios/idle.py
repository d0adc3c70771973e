"""Memory of the server for each terminal that is registered and connected, and has reported nothing yet."""

import time

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.options import Options, Step
from motorpool.bench.phases.registration import connected_fleet
from motorpool.bench.server import run_server

NAME = "idle"
TITLE = "memory of a terminal that is registered and connected, and has not reported yet"
SERVER = "own"
STEPS = 2
WARM_TERMINALS = 100
"""Connected first, so that what every server needs once is not counted."""
AT_ONCE = 100
"""Terminals that register in the same moment: of more the peak would be measured."""
SETTINGS = {"MOTORPOOL_DEVICE_LOGIN_SECONDS": "240"}
"""They connect before the first one registers, and the last ones may wait for longer than a server allows."""
SETTLE_SECONDS = 2.0
"""Idle time before memory is read."""
LIMIT_KB = 6.0


def run(options: Options, summary: Summary, step: Step) -> None:
    """Connect a few terminals and then all of them, and read the memory of the server before and after."""
    count = options.idle_terminals
    with run_server(SETTINGS) as server, connected_fleet(server, WARM_TERMINALS, first=count):
        step("idle server")
        time.sleep(SETTLE_SECONDS)
        before = server.resident_bytes()
        step(f"{count:,} terminals")
        with connected_fleet(server, count, at_once=AT_ONCE) as result:
            time.sleep(SETTLE_SECONDS)
            grown = server.resident_bytes() - before
    summary.add(NAME, "idle terminal", grown / count / 1000, "KB", goals=(Goal(LIMIT_KB),))
    summary.add(NAME, "not accepted", count - result.accepted, "terminals", goals=(Goal(0),))
