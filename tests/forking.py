"""A program that imports the server once, and forks a process of `motorpool serve` each time it is asked to.

Importing takes two thirds of the CPU time of a start. The class Forks in conftest.py writes requests to its
standard input, one line of JSON each, and reads a line with a number or null for each. The end of the input
ends the program.
"""

import gc
import json
import os
import sys

# For its imports alone: `main` imports it again when it runs the subcommand.
import motorpool.api.program.serve  # noqa: F401
from motorpool.api.main import main


def poll(pid: int) -> int | None:
    """Return with what code the process ended, negative for a signal; None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def become_server(folder: str, log: str, environment: dict[str, str]) -> None:
    """Turn this process into one that was started in the folder."""
    null = os.open(os.devnull, os.O_RDONLY)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor, source in ((0, null), (1, file), (2, file)):
        os.dup2(source, descriptor)
    os.close(null)
    os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["motorpool", "serve"]


gc.freeze()
for line in sys.stdin:
    request = json.loads(line)
    if "poll" in request:
        answer = poll(request["poll"])
    elif (answer := os.fork()) == 0:
        become_server(**request)
        sys.exit(main())
    print(json.dumps(answer), flush=True)
