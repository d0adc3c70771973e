"""The codec of TK103 trackers: text in parentheses, over TCP and UDP (docs/protocols/tk103.md)."""

import re

from motorpool.codecs.devices.framed_codec import FramedCodec
from motorpool.codecs.devices.framing import Framing
from motorpool.codecs.devices.tk103 import states
from motorpool.codecs.devices.tk103.command_texts import COMMANDS, command_text
from motorpool.codecs.devices.tk103.frames import message_shapes
from motorpool.codecs.devices.tk103.locations import find_location, read_location
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import (
    DeviceCommand,
    EncodedCommand,
    Heartbeat,
    Report,
    UnknownMessage,
)

MAX_FRAME_BYTES = 1024
_WITH_COMMAS = re.compile(r"([0-9A-Za-z]{1,20}),([A-Z]{2}[0-9A-Z]{2})(?:,|(?=\{)|$)")
_COMPACT = re.compile(
    r"([0-9A-Za-z]{12})([A-Z]{2}[0-9A-Z]{2})|([0-9]{13,20})(BV00|ZC[0-9A-F]{2}|DW[0-9A-F]{2})"
)
_LOCATION_TYPES = frozenset(("BP05", "BP04", "BR00", "BR01", "BR02", "BR03", "BO01", "BQ81"))
_NETWORK_TYPE = re.compile(r"DW[56][0-9A-F]")


class Tk103(FramedCodec):
    """The server's end of one connection, or of one UDP address."""

    name = "tk103"
    port = 5002
    udp = True
    commands = COMMANDS
    framing = Framing(*message_shapes(), max_frame_bytes=MAX_FRAME_BYTES, ignored=b"\r\n")

    def receive_datagram(self, data: bytes) -> list[Report]:
        """Return the reports of one datagram, whose only frame may lack the parentheses."""
        if b"(" not in data and len(data) <= MAX_FRAME_BYTES - 2:
            data = b"(" + data.strip().removesuffix(b")") + b")"
        return super().receive_datagram(data)

    def read_frame(self, frame: bytes, reports: list[Report]) -> None:
        """Read one message."""
        text = frame.decode("ascii", "replace").removeprefix("(").removesuffix(")")
        found = _WITH_COMMAS.match(text) or _COMPACT.match(text)
        if found is None:
            raise CodecError("a message without an identity and a type")
        identity, kind = found[1] or found[3], found[2] or found[4]
        body, has_commas = text[found.end() :], found.re is _WITH_COMMAS
        if kind == "BP00" and not has_commas:
            self._read_handshake(identity, reports)
            return
        self.identify(identity, reports)
        answer = f"({identity}AP05)".encode() if kind == "BP05" and not has_commas else None
        reports.append(self._decode(frame, kind, body, has_commas, answer))

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return `(<id>…)`, or `[begin]sms2,…,[end]` for devices with the attribute `tk103.alternative`."""
        is_alternative = bool(self.options.get("alternative"))
        text = command_text(command, command.unique_id or self.unique_id, self.password, is_alternative)
        return EncodedCommand(text.encode("ascii"))

    def _read_handshake(self, identity: str, reports: list[Report]) -> None:
        answer = f"({identity}AP01HSO)".encode()
        if identity == self.unique_id:
            reports.append(Heartbeat(answer))
        else:
            self.identify(identity, reports, answer)

    def _decode(self, frame: bytes, kind: str, body: str, has_commas: bool, answer: bytes | None) -> Report:
        if location := find_location(body.strip()):
            return read_location(kind, location, self.options, has_date_first=has_commas, receipt=answer)
        if "{" in body and "}" in body and "$" not in body:
            return states.read_cells(body).report_or_heartbeat(answer)
        body = body.strip()
        if answer is not None:
            return Heartbeat(answer)
        if kind in _LOCATION_TYPES:
            raise CodecError(f"{kind} without a location")
        if _NETWORK_TYPE.fullmatch(kind):
            return states.read_network(kind, body).report_or_heartbeat(answer)
        if (reader := states.READERS.get(kind)) is not None:
            return reader(body.removeprefix(",")).report_or_heartbeat(answer)
        return UnknownMessage(frame, kind)
