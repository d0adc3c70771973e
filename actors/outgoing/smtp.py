"""One mail over one connection: the client's side of SMTP (RFC 5321, 3207, 4954, 6531).

Spoken in Trio, so that a deadline ends it wherever it stands: a server may answer a byte a minute.
"""

import base64
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import trio

from motorpool.actors.outgoing.errors import OutgoingError, Refused, Unreachable, innermost, one_line

__all__ = ["Envelope", "SmtpAccount", "submit"]

Security = Literal["none", "starttls", "tls"]
PORTS: dict[Security, int] = {"none": 25, "starttls": 587, "tls": 465}
LONGEST_LINE = 2048
MOST_LINES = 100
"""Of one reply."""
TOO_LARGE = 552
BUSY = 421


@dataclass(frozen=True, kw_only=True)
class SmtpAccount:
    """Where mails are handed in."""

    host: str
    port: int = 0
    """0 is the usual one for the kind of security."""
    security: Security = "starttls"
    username: str = ""
    """Without one nobody logs in."""
    password: str = field(default="", repr=False)
    address: str = ""
    """The mails' sender."""
    name: str = ""
    """Shown beside it."""
    seconds: float = 30.0
    """For one mail, from the name's look-up to the server's word that it has it."""
    trusted: bool = False
    """Named by the operator: its host may be in a private network."""

    @property
    def service(self) -> tuple[str, int]:
        """Host and port."""
        return self.host, self.port or PORTS[self.security]


@dataclass(frozen=True)
class Envelope:
    """Who a mail is from and for, and its bytes."""

    sender: str
    recipient: str
    content: bytes
    """7-bit lines ended by CR LF, but for addresses in the header where `international`."""
    international: bool = False
    """An address is not ASCII; the server must be able to take that."""


async def submit(
    account: SmtpAccount, addresses: Sequence[str], envelope: Envelope, tls: ssl.SSLContext
) -> None:
    """Hand a mail in at the first address that can be connected to.

    No deadline of its own; cancelled, the connection is closed, and the mail may or may not go out.

    Raises:
        Unreachable: no connection, no TLS, no login, or the server has no time: nobody's mail would go.
        Refused: this mail was not taken.
    """
    host, port = account.service
    stream = await _connect(host, port, addresses, account.seconds)
    conversation = _Conversation(host, stream)
    try:
        await conversation.open(account, tls)
        await conversation.hand_in(envelope)
        await conversation.close()
    except (OSError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
        raise Unreachable(f"{host} broke off: {innermost(error)}") from None
    finally:
        await trio.aclose_forcefully(conversation.stream)


async def _connect(host: str, port: int, addresses: Sequence[str], seconds: float) -> trio.SocketStream:
    failure: OutgoingError = Unreachable(f"{host} has no address")
    for address in addresses:
        try:
            with trio.fail_after(seconds / len(addresses)):
                return await trio.open_tcp_stream(address, port)
        except trio.TooSlowError:
            failure = Unreachable(f"{host} port {port} does not answer")
        except OSError as error:
            failure = Unreachable(f"{host} port {port} cannot be connected to: {innermost(error)}")
    raise failure


@dataclass(frozen=True)
class _Reply:
    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return one_line(f"{self.code} {' '.join(self.lines)}")


class _Conversation:
    """Commands and replies."""

    def __init__(self, host: str, stream: trio.SocketStream) -> None:
        self.stream: trio.SocketStream | trio.SSLStream[trio.SocketStream] = stream
        self._host = host
        self._plain = stream
        self._received = bytearray()
        self._extensions: dict[str, str] = {}

    async def open(self, account: SmtpAccount, tls: ssl.SSLContext) -> None:
        """Greet, secure the connection and log in, as the account wants it."""
        if account.security == "tls":
            await self._secure(tls)
        self._expect(await self._reply(), 220, "does not greet")
        await self._greet()
        if account.security == "starttls":
            if "STARTTLS" not in self._extensions:
                raise Unreachable(f"{self._host} offers no STARTTLS")
            self._expect(await self._command("STARTTLS"), 220, "refuses STARTTLS")
            if self._received:
                # Said before TLS began, to be taken for the server's own word after.
                raise Unreachable(f"{self._host} speaks out of turn")
            await self._secure(tls)
            await self._greet()
        if account.username:
            await self._log_in(account.username, account.password)

    async def hand_in(self, envelope: Envelope) -> None:
        """Transfer one mail."""
        options = ""
        if envelope.international:
            if "SMTPUTF8" not in self._extensions:
                raise Refused(f"{self._host} takes only ASCII mail addresses", permanent=True)
            options = " SMTPUTF8"
        if "SIZE" in self._extensions:
            options += f" SIZE={len(envelope.content)}"
        reply = await self._command(f"MAIL FROM:<{envelope.sender}>{options}")
        if reply.code == TOO_LARGE:
            raise Refused(f"{self._host} does not take the mail: {reply.text}", permanent=True)
        self._expect(reply, 250, f"does not take mail from {envelope.sender}")
        reply = await self._command(f"RCPT TO:<{envelope.recipient}>")
        self._accept(reply, (250, 251), "does not take the recipient")
        self._accept(await self._command("DATA"), (354,), "does not take the mail")
        content = envelope.content if envelope.content.endswith(b"\r\n") else envelope.content + b"\r\n"
        stuffed = content.replace(b"\r\n.", b"\r\n..")
        if stuffed.startswith(b"."):
            stuffed = b"." + stuffed
        await self.stream.send_all(stuffed + b".\r\n")
        self._accept(await self._reply(), (250,), "does not take the mail")

    async def close(self) -> None:
        """Take leave; the server has the mail, so that nothing may go wrong any more."""
        try:
            with trio.move_on_after(1):
                await self._command("QUIT")
        except (OSError, trio.BrokenResourceError, OutgoingError):
            return

    async def _secure(self, tls: ssl.SSLContext) -> None:
        self.stream = trio.SSLStream(
            self._plain, tls, server_hostname=self._host.rstrip("."), https_compatible=True
        )
        try:
            await self.stream.do_handshake()
        except trio.BrokenResourceError as error:
            raise Unreachable(f"{self._host} cannot be trusted by TLS: {innermost(error)}") from None

    async def _greet(self) -> None:
        reply = await self._command(f"EHLO {self._own_name()}")
        if reply.code == 250:
            words = [line.upper().partition(" ") for line in reply.lines[1:]]
            self._extensions = {word: rest for word, _, rest in words}
            return
        self._extensions = {}
        self._expect(await self._command(f"HELO {self._own_name()}"), 250, "does not greet")

    def _own_name(self) -> str:
        name = socket.gethostname()
        if "." in name and name.isascii():
            return name
        address = str(self._plain.socket.getsockname()[0])
        return f"[IPv6:{address}]" if ":" in address else f"[{address}]"

    async def _log_in(self, username: str, password: str) -> None:
        offered = self._extensions.get("AUTH", "").split()
        if "PLAIN" in offered:
            secret = _base64(f"\0{username}\0{password}")
            reply = await self._command(f"AUTH PLAIN {secret}")
        elif "LOGIN" in offered:
            reply = await self._command("AUTH LOGIN")
            for answer in (username, password):
                if reply.code == 334:
                    reply = await self._command(_base64(answer))
        else:
            raise Unreachable(f"{self._host} offers neither AUTH PLAIN nor LOGIN")
        if reply.code != 235:
            # Not its text: some repeat what was said, and that was the password.
            raise Unreachable(f"{self._host} refuses the login ({reply.code})")

    async def _command(self, line: str) -> _Reply:
        if "\r" in line or "\n" in line:
            raise Refused("an address or a name holds a line break", permanent=True)
        try:
            await self.stream.send_all(line.encode() + b"\r\n")
        except trio.BrokenResourceError:
            # It may have said why before it closed.
            return await self._reply()
        return await self._reply()

    async def _reply(self) -> _Reply:
        lines: list[str] = []
        while True:
            line = await self._line()
            if len(line) < 3 or not line[:3].isdigit() or line[3:4] not in {"", " ", "-"}:
                raise Unreachable(f"{self._host} does not speak SMTP")
            lines.append(line[4:])
            if line[3:4] != "-":
                return _Reply(int(line[:3]), tuple(lines))
            if len(lines) == MOST_LINES:
                raise Unreachable(f"{self._host} never ends a reply")

    async def _line(self) -> str:
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > LONGEST_LINE:
                raise Unreachable(f"{self._host} does not speak SMTP")
            piece = await self.stream.receive_some(4096)
            if not piece:
                raise Unreachable(f"{self._host} closed the connection")
            self._received += piece
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def _expect(self, reply: _Reply, code: int, complaint: str) -> None:
        """What must go well for any mail."""
        if reply.code != code:
            raise Unreachable(f"{self._host} {complaint}: {reply.text}")

    def _accept(self, reply: _Reply, codes: tuple[int, ...], complaint: str) -> None:
        """What depends on this mail."""
        if reply.code == BUSY:
            raise Unreachable(f"{self._host} has no time: {reply.text}")
        if reply.code not in codes:
            raise Refused(f"{self._host} {complaint}: {reply.text}", permanent=reply.code >= 500)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
