"""The reference for `api`: a bare Quart-Trio route that returns ready bytes.

`python -m motorpool.bench.load.bare FILE` listens on a free port of this machine, writes it as one line, and
answers every request under /api with the content of FILE as JSON.
"""

import socket
import sys
from functools import partial
from pathlib import Path

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart import Response
from quart_trio import QuartTrio


def make_app(body: bytes) -> QuartTrio:
    """Make the application."""
    app = QuartTrio("motorpool.bench.load.bare")

    @app.route("/api/<path:rest>", methods=["GET", "PUT"])
    async def answer(rest: str) -> Response:
        del rest
        return Response(body, 200, content_type="application/json")

    return app


async def run(body: bytes) -> None:
    """Serve until killed."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(1024)
        config = Config()
        config.bind = [f"fd://{bound.fileno()}"]
        config.keep_alive_max_requests = 10_000_000
        config.keep_alive_timeout = 75.0
        config.accesslog = None
        config.errorlog = None
        sys.stdout.write(f"{bound.getsockname()[1]}\n")
        sys.stdout.flush()
        await serve(make_app(body), config)


if __name__ == "__main__":
    trio.run(partial(run, Path(sys.argv[1]).read_bytes()))
