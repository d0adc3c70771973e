"""Submits one mail over one connection, by smtplib of the standard library in a thread."""

import io
import re
import smtplib
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Literal

import trio

from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable, one_line, root_cause

Security = Literal["none", "starttls", "tls"]
PORTS: dict[Security, int] = {"none": 25, "starttls": 587, "tls": 465}
MAX_REPLY_BYTES = 256 * 1024
"""Maximum bytes of all replies of a server in one session."""
_NOT_OF_AN_ADDRESS = re.compile(r"[\x00-\x1f\x7f<>]")
TOO_LARGE = 552
BUSY = 421


@dataclass(frozen=True, kw_only=True)
class SmtpAccount:
    """An account at a mail server."""

    host: str
    port: int = 0
    """0 stands for the default port of `security`: 25, 587 or 465."""
    security: Security = "starttls"
    username: str = ""
    """Empty: no login."""
    password: str = field(default="", repr=False)
    address: str = ""
    """Mail address of the sender."""
    name: str = ""
    """Display name of the sender."""
    seconds: float = 30.0
    """Timeout of one mail, from the look-up of the host to its acceptance."""
    trusted: bool = False
    """Whether the host may be in a private network: the operator named it, not a user."""

    @property
    def service(self) -> tuple[str, int]:
        """Host and port."""
        return self.host, self.port or PORTS[self.security]


@dataclass(frozen=True)
class SmtpEnvelope:
    """A mail with its sender and recipient."""

    sender: str
    recipient: str
    content: bytes
    """7-bit lines that end by CR LF; with `international` the addresses in the header are UTF-8."""
    international: bool = False
    """Whether an address is not ASCII: the server must support SMTPUTF8 (RFC 6531)."""


async def submit(
    account: SmtpAccount,
    addresses: Sequence[str],
    envelope: SmtpEnvelope,
    tls: ssl.SSLContext,
    threads: trio.CapacityLimiter,
) -> None:
    """Submit a mail at the first of the addresses that can be connected to.

    Has no deadline. Cancellation shuts the connection down, which ends the thread; the mail may have been
    accepted.

    Raises:
        Unreachable: no connection, no TLS, no login, or the server is busy: any mail would fail.
        DeliveryRefused: the server refuses this mail.
    """
    if not (_is_address(envelope.sender) and _is_address(envelope.recipient)):
        raise DeliveryRefused("there is no such mail address", permanent=True)
    connection = await _connect(account, addresses)
    copying = threading.Lock()
    try:
        await trio.to_thread.run_sync(
            _hand_in, account, envelope, connection, copying, tls, abandon_on_cancel=True, limiter=threads
        )
    finally:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        with copying:
            connection.close()


def _is_address(text: str) -> bool:
    """Whether smtplib sends this text as one address."""
    # It takes an address out of a text such as "Ann <ann@example.org>". Where it finds none the text is sent
    # as it is: from Python 3.13 on also with parameters, or another command, behind an address.
    return not _NOT_OF_AN_ADDRESS.search(text) and smtplib.quoteaddr(text) == f"<{text}>"


async def _connect(account: SmtpAccount, addresses: Sequence[str]) -> socket.socket:
    host, port = account.service
    failure: OutgoingError = Unreachable(f"{host} has no address")
    for address in addresses:
        try:
            with trio.fail_after(account.seconds / len(addresses)):
                stream = await trio.open_tcp_stream(address, port)
        except trio.TooSlowError:
            failure = Unreachable(f"{host} port {port} does not answer")
        except OSError as error:
            failure = Unreachable(f"{host} port {port} cannot be connected to: {root_cause(error)}")
        else:
            connection = socket.socket(fileno=stream.socket.detach())
            connection.setblocking(True)
            return connection
    raise failure


def _hand_in(
    account: SmtpAccount,
    envelope: SmtpEnvelope,
    connection: socket.socket,
    copying: threading.Lock,
    tls: ssl.SSLContext,
) -> None:
    try:
        with copying:
            # smtplib closes its copy; the original can be shut down at any time.
            copy = connection.dup()
        with copy, closing(_Smtp(account, copy, tls)) as smtp:
            if account.security == "starttls":
                smtp.starttls(context=tls)
            smtp.ehlo_or_helo_if_needed()
            if account.username:
                smtp.login(_Utf8(account.username), _Utf8(account.password))
            if envelope.international and not smtp.has_extn("smtputf8"):
                raise DeliveryRefused(f"{account.host} takes only ASCII mail addresses", permanent=True)
            options = ["SMTPUTF8"] if envelope.international else []
            smtp.sendmail(envelope.sender, [envelope.recipient], envelope.content, options)
            with suppress(OSError):
                # The reply is not awaited: the server has accepted the mail.
                smtp.putcmd("quit")
            return
    except (OSError, ValueError) as error:
        failure = _explain(account.host, error)
    # Raised out here: as context the reply might repeat the password.
    raise failure


class _Smtp(smtplib.SMTP):
    """An SMTP session on an open connection; TLS is verified against the name of the host."""

    def __init__(self, account: SmtpAccount, connection: socket.socket, tls: ssl.SSLContext) -> None:
        self._connection = connection
        self._tls = tls if account.security == "tls" else None
        host, port = account.service
        own_name, address = socket.gethostname(), str(connection.getsockname()[0])
        if "." not in own_name or not own_name.isascii():
            own_name = f"[IPv6:{address}]" if ":" in address else f"[{address}]"
        super().__init__(host.rstrip("."), port, own_name)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        if self._tls is None:
            return self._connection
        return self._tls.wrap_socket(self._connection, server_hostname=host)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock.makefile("rb", buffering=0))
        return super().getreply()

    def auth_plain(self, challenge: object = None) -> str:
        return _Utf8(super().auth_plain())


class _Replies(io.BufferedReader):
    """Replies of a server, bounded; smtplib itself would collect any amount."""

    left = MAX_REPLY_BYTES

    def readline(self, size: int | None = -1, /) -> bytes:
        self.left -= len(line := super().readline(size))
        if self.left < 0:
            raise OSError("it talks without end")
        return line


class _Utf8(str):
    """Text that is sent as UTF-8 where smtplib would require ASCII (RFC 4616)."""

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return super().encode("utf-8", errors)


def _explain(host: str, error: Exception) -> OutgoingError:
    """Return the error for one from smtplib: DeliveryRefused if only this mail is refused."""
    code, said = getattr(error, "smtp_code", 0), getattr(error, "smtp_error", b"")
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        ((code, said),) = error.recipients.values()
    if isinstance(error, smtplib.SMTPAuthenticationError):
        # Not its text: some repeat what was said, and that was the password.
        return Unreachable(f"{host} refuses the login ({code})")
    if isinstance(error, ssl.SSLError):
        return Unreachable(f"{host} cannot be trusted by TLS: {root_cause(error)}")
    if isinstance(error, ValueError) or type(error) is smtplib.SMTPException:
        # Not its text either.
        return Unreachable(f"{host} has no way to log in that is known here")
    if not code:
        return Unreachable(f"{host} takes no mail: {root_cause(error)}")
    if code < 200:
        return Unreachable(f"{host} does not speak SMTP")
    text = one_line(f"{code} {said.decode('utf-8', 'replace') if isinstance(said, bytes) else said}")
    this_one = isinstance(error, smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) or code == TOO_LARGE
    if this_one and code != BUSY:
        return DeliveryRefused(f"{host} does not take the mail: {text}", permanent=code >= 500)
    return Unreachable(f"{host} takes no mail: {text}")
