"""Names that lead where the test says, and certificates of a test's own authority."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, gaierror

import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Names(trio.abc.HostnameResolver):
    """Answers each question about a name with the next of its lists of addresses, the last one for ever."""

    def __init__(self, known):
        self.known = {name: list(answers) for name, answers in known.items()}
        self.questions = []

    async def getaddrinfo(self, host, port, *_, **__):
        name = host.decode() if isinstance(host, bytes) else host
        self.questions.append(name)
        if name not in self.known:
            raise gaierror("no such name")
        answers = self.known[name]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (
                AF_INET6 if ip_address(each).version == 6 else AF_INET,
                SOCK_STREAM,
                IPPROTO_TCP,
                "",
                (each, port),
            )
            for each in addresses
        ]

    async def getnameinfo(self, sockaddr, flags):
        raise NotImplementedError


@pytest.fixture
async def names():
    """`names({"fleet.example": [["127.0.0.1"]]})`: what names resolve to; the resolver."""

    def resolve(known):
        resolver = Names(known)
        trio.socket.set_custom_hostname_resolver(resolver)
        return resolver

    yield resolve
    trio.socket.set_custom_hostname_resolver(None)


class Authority:
    def __init__(self, folder):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        extensions = x509.BasicConstraints(True, None), x509.KeyUsage(*[False] * 5, True, *[False] * 3)
        self.certificate = self.sign(name, name, self.key.public_key(), *extensions)
        self.trusting = ssl.create_default_context(
            cadata=self.certificate.public_bytes(Encoding.PEM).decode()
        )

    def sign(self, subject, issuer, public_key, *extensions):
        start = datetime.now(UTC) - timedelta(days=1)  # noqa: TID251 - the clock that TLS looks at
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + timedelta(days=30))
        )
        # Python checks from 3.13 on that there is what RFC 5280 asks for.
        ids = (
            x509.SubjectKeyIdentifier.from_public_key(public_key),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
        )
        for extension in (*ids, *extensions):
            builder = builder.add_extension(extension, isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256())

    def server(self, name):
        """What a server of this name shows."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        certificate = self.sign(subject, self.certificate.subject, key.public_key(), names)
        file = self.folder / f"{name}.pem"
        file.write_bytes(
            certificate.public_bytes(Encoding.PEM)
            + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """`authority.server("mail.example")` is a server's TLS, `authority.trusting` what believes it."""
    return Authority(tmp_path_factory.mktemp("certificates"))
