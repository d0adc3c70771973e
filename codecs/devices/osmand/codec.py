"""The codec of OsmAnd and Traccar Client, and of GPSLogger: positions over HTTP
(docs/protocols/osmand.md).
"""

from collections.abc import Sequence

import h11

from motorpool.codecs.devices.http_codec import Exchange, HttpCodec
from motorpool.codecs.devices.osmand.json_body import read_json
from motorpool.codecs.devices.osmand.query import read_query
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, PositionReport


class OsmAnd(HttpCodec):
    """The server's end of one HTTP connection."""

    name = "osmand"
    port = 5055
    commands = frozenset(("custom",))

    def read_request(
        self, request: h11.Request, body: bytes, exchange: Exchange
    ) -> tuple[str, list[PositionReport]]:
        """Read the JSON form, or the parameters of the query or of a form."""
        if request.method not in (b"GET", b"POST"):
            raise CodecError("GET or POST")
        kind = dict(request.headers).get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind == b"application/json":
            exchange.unknown_status = 404
            return read_json(body)
        query = request.target.decode("ascii", "replace").partition("?")[2]
        unique_id, report = read_query(query or body.decode("utf-8", "replace"))
        return unique_id, [report]

    def answer(self, commands: Sequence[bytes]) -> bytes:
        """Return the texts of commands, one line each."""
        return b"\n".join(commands)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return the text of a `custom` command, for the body of an answer."""
        text = command.attributes.get("data")
        if command.type != "custom":
            raise UnsupportedCommand(f"osmand has no message for {command.type}")
        if not isinstance(text, str) or not text:
            raise UnsupportedCommand("data is required")
        return EncodedCommand(text.encode(errors="replace"))
