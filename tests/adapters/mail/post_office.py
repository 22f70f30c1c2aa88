"""A local SMTP server that stores received mail, or rejects it on request."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

USER, PASSWORD = "post", "correct horse"


@dataclass
class PostOffice:
    """The received mail, and an error that replaces the greeting."""

    port: int = 0
    received: list[Message] = field(default_factory=list)
    logins: list[bool] = field(default_factory=list)
    rcpt_answer: str = ""
    data_answer: str = ""
    at_data: threading.Event = field(default_factory=threading.Event)
    answers: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.answers.set()

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.rcpt_answer:
            return self.rcpt_answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.at_data.set()
        if self.data_answer:
            return self.data_answer
        if not self.answers.is_set():
            # Clients wait for this response until they give up.
            return await server.loop.create_future()
        self.received.append(message_from_bytes(envelope.content))
        return "250 Taken"

    def authenticate(self, server: Any, session: Any, envelope: Any, kind: str, given: Any) -> Any:
        assert isinstance(given, LoginPassword)
        is_right = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
        self.logins.append(is_right)
        return AuthResult(success=is_right, handled=is_right)


class _AnyPort(Controller):
    """A server on a free port."""

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def open_office(
    *, certificate: Path | None = None, implicit: bool = False, login: bool = False
) -> Iterator[PostOffice]:
    """Yield an office on a free port. With a certificate it uses TLS."""
    office = PostOffice()
    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
    options: dict[str, Any] = {}
    if login:
        options = {"authenticator": office.authenticate, "auth_required": True}
        options["auth_require_tls"] = tls is not None and not implicit
    controller = _AnyPort(
        office,
        hostname="127.0.0.1",
        port=0,
        ssl_context=tls if implicit else None,
        tls_context=None if implicit else tls,
        **options,
    )
    controller.start()
    office.port = controller.port
    try:
        yield office
    finally:
        controller.stop(no_assert=True)


def make_certificate(folder: Path) -> Path:
    """Create a self-signed certificate for this machine, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, SHA256())
    )
    path = folder / "certificate.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    return path
