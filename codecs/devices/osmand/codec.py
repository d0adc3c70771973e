"""The codec of OsmAnd and Traccar Client, and of GPSLogger: positions over HTTP
(docs/protocols/osmand.md).
"""

from collections.abc import Sequence

from motorpool.codecs.devices.http_codec import Exchange, HttpCodec, HttpRequest, secret_of
from motorpool.codecs.devices.osmand.json_body import read_json
from motorpool.codecs.devices.osmand.query import read_query
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, PositionReport, Secret


class OsmAnd(HttpCodec):
    """The server's end of one HTTP connection."""

    name = "osmand"
    port = 5055
    commands = frozenset(("custom",))

    def read_request(
        self, request: HttpRequest, body: bytes, exchange: Exchange
    ) -> tuple[str, list[PositionReport]]:
        """Read the JSON form, or the parameters of the query or of a form."""
        if request.method not in (b"GET", b"POST"):
            raise CodecError("GET or POST")
        if _is_json(request):
            exchange.unknown_status = 404
            return read_json(body)
        unique_id, report = read_query(_query(request, body))
        return unique_id, [report]

    def read_secret(self, request: HttpRequest, body: bytes) -> Secret | None:
        """Return the parameter `secret`: of the query, or where there is none of the form."""
        return super().read_secret(request, body) if _is_json(request) else secret_of(_query(request, body))

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


def _is_json(request: HttpRequest) -> bool:
    kind = request.headers.get(b"content-type", b"")
    return kind.partition(b";")[0].strip().lower() == b"application/json"


def _query(request: HttpRequest, body: bytes) -> str:
    """Return the parameters of the query, or where there are none those of a form."""
    return request.target.decode("ascii", "replace").partition("?")[2] or body.decode("utf-8", "replace")
