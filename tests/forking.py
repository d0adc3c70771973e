"""A program that imports the server once, and forks a process of `motorpool` each time it is asked to.

Importing takes two thirds of the CPU time of a start. The argument is the descriptor of a socket that
listens; the program forks a process for each connection. The class Forks in conftest.py sends requests, one
line of JSON each, and reads a line with a number or null for each. The end of the connection ends the
process.
"""

import gc
import json
import os
import signal
import socket
import sys

# For its imports alone: `main` imports it again when it runs the subcommand.
import motorpool.api.program.serve  # noqa: F401
from motorpool.api.app import _encoded_document
from motorpool.api.main import main

codes: dict[int, int] = {}
"""Of processes that have ended: several threads of a test may ask for each."""


def poll(pid: int) -> int | None:
    """Return with what code the process ended, negative for a signal; None while it runs."""
    if pid not in codes:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return None
        codes[pid] = os.waitstatus_to_exitcode(status)
    return codes[pid]


def become_program(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Turn this process into `motorpool` with these words, started in the folder."""
    for descriptor, source in enumerate(streams):
        os.dup2(source, descriptor)
    for source in set(streams):
        os.close(source)
    # What this program has read ahead is not meant for the other.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["motorpool", *words]


def fork(words: list[str], folder: str, environment: dict[str, str], streams: list[str]) -> int:
    """Start a process; `streams` are the paths of its standard input, output and error."""
    modes = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND] * 2)
    opened = [os.open(path, mode) for path, mode in zip(streams, modes, strict=True)]
    pid = os.fork()
    # A number may come again.
    codes.pop(pid, None)
    if pid == 0:
        become_program(words, folder, environment, opened)
        sys.exit(main())
    for descriptor in opened:
        os.close(descriptor)
    return pid


def serve(connection: socket.socket) -> None:
    """Answer the requests of one connection."""
    with connection, connection.makefile("rw") as requests:
        for line in requests:
            request = json.loads(line)
            answer = poll(request["poll"]) if "poll" in request else fork(**request)
            print(json.dumps(answer), file=requests, flush=True)


# Each server would write its own, which takes a tenth of the CPU time of a start.
_encoded_document()
gc.freeze()
# Nobody waits for the processes of connections.
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listening = socket.socket(fileno=int(sys.argv[1]))
while True:
    accepted, _ = listening.accept()
    if os.fork() == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listening.close()
        serve(accepted)
        sys.exit()
    accepted.close()
