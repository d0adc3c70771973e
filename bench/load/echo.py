"""The reference for `ingest`: a bare Trio echo server (docs/decisions/0034).

`python -m motorpool.bench.load.echo` listens on a free port of this machine and writes it as one line.
"""

import sys

import trio

from motorpool.bench.load.output import raise_file_limit


async def echo(stream: trio.SocketStream) -> None:
    """Send back what is received."""
    try:
        while content := await stream.receive_some(65536):
            await stream.send_all(content)
    except trio.BrokenResourceError:
        pass


async def serve() -> None:
    """Serve until killed."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    sys.stdout.write(f"{listeners[0].socket.getsockname()[1]}\n")
    sys.stdout.flush()
    await trio.serve_listeners(echo, listeners)


if __name__ == "__main__":
    raise_file_limit()
    trio.run(serve)
