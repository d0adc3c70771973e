"""A server of map tiles for tests: styles for day and night, vector and raster tiles, a sprite.

It draws a grid of streets anywhere. Nothing of it is from elsewhere, and no test asks another host.

    python -m tests.tile_server     serves on port 8099 until it is interrupted
"""

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

EXTENT = 4096
CREDIT = (
    '<a href="https://example.org/copyright" onclick="alert(1)">© Grid makers</a> <script>alert(1)</script>'
)
STREET = {"day": "#d05f00", "night": "#ffd27f"}
"""The colors of streets, which nothing else of the console has."""
GROUND = {"day": "#eef2e6", "night": "#20242c"}
PHOTO = (20, 110, 60)
"""The color of raster tiles."""
STEPS = 4
"""Streets on each side of a tile."""


@dataclass
class TileServer:
    """What it does with requests for tiles and styles, and which came."""

    url: str = ""
    tiles: str = "good"
    """`good`, `broken`, `missing` or `hang`."""
    styles: str = "good"
    """`good`, `refuse`, `broken` or `hang`."""
    asked: list[str] = field(default_factory=list)
    """Paths of requests."""
    referrers: list[str] = field(default_factory=list)
    """What requests told of the page that they came from."""
    released: threading.Event = field(default_factory=threading.Event)
    """Ends requests that hang."""


def varint(value: int) -> bytes:
    """Encode a number as Protocol Buffers do."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def block(number: int, content: bytes) -> bytes:
    """Encode a field of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def zigzag(value: int) -> int:
    """Encode a signed number."""
    return (value << 1) ^ (value >> 31)


def line(start: tuple[int, int], step: tuple[int, int]) -> bytes:
    """Encode the geometry of a line: MoveTo, LineTo (Mapbox Vector Tile 2.1, 4.3)."""
    numbers = (9, *map(zigzag, start), 10, *map(zigzag, step))
    return b"".join(map(varint, numbers))


def vector_tile() -> bytes:
    """Encode a tile with streets and a place with names."""
    keys, values = ["name", "name:pt"], ["Grid Street", "Rua da Grelha", "Gridton", "Grelhópolis"]
    streets = [
        ((EXTENT * at // STEPS + 512, 0), (0, EXTENT))
        if upright
        else ((0, EXTENT * at // STEPS + 512), (EXTENT, 0))
        for at in range(STEPS)
        for upright in (True, False)
    ]

    def feature(kind: int, geometry: bytes, tags: tuple[int, ...]) -> bytes:
        content = block(2, b"".join(map(varint, tags))) + varint(3 << 3) + varint(kind) + block(4, geometry)
        return block(2, content)

    def layer(name: str, features: list[bytes]) -> bytes:
        content = varint(15 << 3) + varint(2) + block(1, name.encode()) + b"".join(features)
        content += b"".join(block(3, key.encode()) for key in keys)
        content += b"".join(block(4, block(1, value.encode())) for value in values)
        return block(3, content + varint(5 << 3) + varint(EXTENT))

    point = b"".join(map(varint, (9, zigzag(EXTENT // 2), zigzag(EXTENT // 2))))
    return layer("streets", [feature(2, line(*street), (0, 0, 1, 1)) for street in streets]) + layer(
        "places", [feature(1, point, (0, 2, 1, 3))]
    )


def style(theme: str) -> dict[str, Any]:
    """Return the style of a theme, with relative addresses."""
    return {
        "version": 8,
        "sources": {"grid": {"type": "vector", "url": "/tiles.json"}},
        "sprite": "/sprite",
        "glyphs": "/fonts/{fontstack}/{range}.pbf",
        "layers": [
            {"id": "ground", "type": "background", "paint": {"background-color": GROUND[theme]}},
            {
                "id": "streets",
                "type": "line",
                "source": "grid",
                "source-layer": "streets",
                "paint": {"line-color": STREET[theme], "line-width": 4},
            },
            {
                "id": "places",
                "type": "symbol",
                "source": "grid",
                "source-layer": "places",
                "layout": {
                    "text-field": ["get", "name"],
                    "text-font": ["Noto Sans Bold"],
                    "icon-image": "dot",
                },
                "paint": {"text-color": STREET[theme]},
            },
        ],
    }


def picture(color: tuple[int, int, int], side: int) -> bytes:
    """Return a PNG of one color."""
    content = io.BytesIO()
    Image.new("RGB", (side, side), color).save(content, "PNG")
    return content.getvalue()


@contextmanager
def serve_tiles(port: int = 0) -> Iterator[TileServer]:
    """Serve on the loopback."""
    state = TileServer()
    tile, photo, dot = vector_tile(), picture(PHOTO, 256), picture((200, 30, 30), 8)
    index = json.dumps({"dot": {"x": 0, "y": 0, "width": 8, "height": 8, "pixelRatio": 1}}).encode()

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            state.asked.append(path)
            if told := self.headers.get("Referer"):
                state.referrers.append(told)
            if match := re.fullmatch(r"/styles/(day|night)", path):
                self._give(state.styles, json.dumps(style(match[1])).encode(), "application/json")
            elif path == "/tiles.json":
                described = {
                    "tiles": [f"{state.url}/grid/{{z}}/{{x}}/{{y}}"],
                    "maxzoom": 14,
                    "attribution": CREDIT,
                }
                self._give(
                    "good", json.dumps({"tilejson": "3.0.0", **described}).encode(), "application/json"
                )
            elif path.startswith("/grid/"):
                self._give(state.tiles, tile, "application/x-protobuf")
            elif path.startswith("/photos/"):
                self._give(state.tiles, photo, "image/png")
            elif path in {"/sprite.json", "/sprite@2x.json"}:
                self._give("good", index, "application/json")
            elif path in {"/sprite.png", "/sprite@2x.png"}:
                self._give("good", dot, "image/png")
            else:
                self._give("missing", b"", "text/plain")

        def _give(self, mode: str, content: bytes, kind: str) -> None:
            if mode == "hang":
                state.released.wait(60)
                return self.close()
            if mode == "broken":
                content = b"\xff" * 40
            self.send_response({"refuse": 403, "missing": 404}.get(mode, 200))
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(content)
            return None

        def close(self) -> None:
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing of browsers that leave."""

    server = Server(("127.0.0.1", port), Answer)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    with serve_tiles(8099) as running:
        print(running.url, flush=True)
        while True:
            time.sleep(60)
