"""Posts to receivers at real sockets. No internal socket is ever connected."""

import asyncio
import contextlib
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from adapters.webhooks import sender as sending
from adapters.webhooks.guarded_network import Resolve
from adapters.webhooks.sender import Received, WebhookSender
from models.webhooks.addresses import Address, AddressRefused
from tests.models.webhooks.test_addresses import INSIDE

LOOPBACK = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Listener:
    """A socket on the loopback interface that counts connections and sends a set response."""

    def __init__(self, family: socket.AddressFamily = socket.AF_INET) -> None:
        host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        self._socket = socket.create_server((host, 0), family=family)
        self.port = self._socket.getsockname()[1]
        self.connections = 0
        self.requests: list[bytes] = []
        self.names: list[str | None] = []
        self.reply: bytes | Callable[[socket.socket], None] = OK
        self.tls: ssl.SSLContext | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self.tls is not None:
                peer = self.tls.wrap_socket(peer, server_side=True)
            with peer:
                while request := _one_request(peer):
                    self.requests.append(request)
                    if callable(self.reply):
                        self.reply(peer)
                        return
                    peer.sendall(self.reply)


def _one_request(peer: socket.socket) -> bytes:
    """Return a request with its complete body, which may follow its head, or nothing if none
    arrives.
    """
    request = b""
    while part := peer.recv(65536):
        request += part
        head, end, body = request.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if end and len(body) >= (int(length[1]) if length else 0):
            return request
    return b""


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


def resolver(*found: str) -> Resolve:
    async def resolve(host: str, port: int) -> Sequence[Address]:
        return [ip_address(address) for address in found]

    return resolve


def post(sender: WebhookSender, *urls: str, body: bytes = b"{}") -> list[Received]:
    async def all_of_them() -> list[Received]:
        try:
            return [await sender.post(url, {"webhook-id": "evt_1"}, body) for url in urls]
        finally:
            await sender.close()

    return asyncio.run(all_of_them())


def at(listener: Listener, path: str = "/") -> str:
    return f"http://127.0.0.1:{listener.port}{path}"


class TestInternalAddresses:
    @pytest.mark.parametrize("url", INSIDE)
    def test_no_spelling_connects(self, url: str, listener: Listener) -> None:
        """Unchanged, and with the port of a listening socket."""
        sender = WebhookSender((), timeout_s=2)
        head, slashes, tail = url.partition("://")
        host, slash, path = tail.partition("/")
        named = f"{head}{slashes}{host}:{listener.port}{slash}{path}"
        for received in post(sender, url, named):
            assert (received.status, received.failure) in (
                (None, sending.REFUSED),
                (None, sending.NOT_RESOLVED),
            )
        assert post(sender, url)[0].failure == sending.REFUSED
        assert listener.connections == 0

    @pytest.mark.parametrize(
        "inside", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "fd00::1"]
    )
    def test_name_of_an_internal_address_is_rejected(self, inside: str, listener: Listener) -> None:
        for found in ([inside], ["93.184.215.14", inside]):
            sender = WebhookSender((), resolve=resolver(*found))
            url = f"https://shop.example:{listener.port}/"
            (received,) = post(sender, url)
            assert received.failure == sending.REFUSED
            with pytest.raises(AddressRefused):
                asyncio.run(sender.check(url))
        assert listener.connections == 0

    def test_name_with_changing_address_is_rejected(self, listener: Listener) -> None:
        """The address is public at the check and internal at the connection."""
        answers = iter(["93.184.215.14", "127.0.0.1"])

        async def resolve(host: str, port: int) -> Sequence[Address]:
            return [ip_address(next(answers))]

        sender = WebhookSender((), resolve=resolve)
        url = f"https://shop.example:{listener.port}/"
        asyncio.run(sender.check(url))
        assert [one.failure for one in post(sender, url)] == [sending.REFUSED]
        assert listener.connections == 0

    def test_names_of_this_machine_are_rejected(self, listener: Listener) -> None:
        sender = WebhookSender(())
        (received,) = post(sender, f"https://localhost:{listener.port}/")
        assert received.failure == sending.REFUSED
        assert listener.connections == 0

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_redirects_are_not_followed(self, status: int, listener: Listener) -> None:
        inside = Listener()
        listener.reply = (
            f"HTTP/1.1 {status} Moved\r\nLocation: {at(inside)}\r\nContent-Length: 0\r\n\r\n"
        ).encode()
        (received,) = post(WebhookSender(LOOPBACK), at(listener))
        assert (received.status, inside.connections) == (status, 0)
        inside.close()

    def test_proxies_of_the_environment_are_not_used(
        self, listener: Listener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proxy = Listener()
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
            monkeypatch.setenv(name, at(proxy))
        post(WebhookSender(LOOPBACK), at(listener))
        assert (proxy.connections, listener.connections) == (0, 1)
        proxy.close()


class TestPost:
    def test_request_is_sent_completely(self, listener: Listener) -> None:
        url = at(listener, "/hook?a=b")
        received, again = post(WebhookSender(LOOPBACK), url, url, body=b'{"a":1}')
        assert (received.status, received.failure, received.answer) == (200, None, "ok")
        assert again.status == 200
        assert listener.connections == 1, "the connection is kept"
        sent = b"".join(listener.requests).decode()
        lines = sent.split("\r\n")
        assert lines[0] == "POST /hook?a=b HTTP/1.1"
        assert {f"Host: 127.0.0.1:{listener.port}", "webhook-id: evt_1"} <= set(lines)
        assert "Content-Type: application/json" in lines
        assert sent.count('{"a":1}') == 2

    def test_ipv6(self) -> None:
        listener = Listener(socket.AF_INET6)
        (received,) = post(WebhookSender(LOOPBACK), f"http://[::1]:{listener.port}/")
        assert received.status == 200
        assert f"Host: [::1]:{listener.port}".encode() in listener.requests[0]
        listener.close()

    def test_large_response_is_read_partially(self, listener: Listener) -> None:
        sent: list[int] = []

        def flood(peer: socket.socket) -> None:
            peer.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            while True:
                sent.append(peer.send(b"x" * 65536))

        listener.reply = flood
        (received,) = post(WebhookSender(LOOPBACK), at(listener))
        assert (received.status, received.answer) == (200, "x" * 1024)
        time.sleep(0.2)
        assert sum(sent) < 20_000_000, (
            "only the buffers of the sockets are filled before it is closed"
        )

    def test_response_of_any_bytes_is_text(self, listener: Listener) -> None:
        listener.reply = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\x00\xffok"
        (received,) = post(WebhookSender(LOOPBACK), at(listener))
        assert received.answer == "\ufffd\ufffdok"

    def test_silent_receiver(self, listener: Listener) -> None:
        listener.reply = lambda peer: time.sleep(1)
        (received,) = post(WebhookSender(LOOPBACK, timeout_s=0.2), at(listener))
        assert (received.status, received.failure) == (None, sending.TIMED_OUT)

    @pytest.mark.parametrize("reply", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nX"])
    def test_broken_receiver(self, listener: Listener, reply: bytes) -> None:
        listener.reply = lambda peer: peer.sendall(reply)
        (received,) = post(WebhookSender(LOOPBACK), at(listener))
        assert (received.status, received.failure) == (None, sending.BROKEN)

    def test_refused_connection(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        (received,) = post(WebhookSender(LOOPBACK), f"http://127.0.0.1:{port}/")
        assert (received.status, received.failure) == (None, sending.CANNOT_CONNECT)

    def test_name_without_an_address(self) -> None:
        sender = WebhookSender((), resolve=resolver())
        (received,) = post(sender, "https://shop.example/")
        assert received.failure == sending.NOT_RESOLVED
        asyncio.run(sender.check("https://shop.example/"))

    def test_retry_after_is_reported(self, listener: Listener) -> None:
        listener.reply = b"HTTP/1.1 503 No\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"
        (received,) = post(WebhookSender(LOOPBACK), at(listener))
        assert (received.status, received.retry_after) == (503, "120")


class TestTls:
    def test_server_name_is_sent(self, listener: Listener, tmp_path: Path) -> None:
        listener.tls, trusted = certified("shop.example", tmp_path, listener.names)
        sender = WebhookSender(LOOPBACK, resolve=resolver("127.0.0.1"), certificates=trusted)
        (received,) = post(sender, f"https://shop.example:{listener.port}/")
        assert (received.status, listener.names) == (200, ["shop.example"])
        assert f"Host: shop.example:{listener.port}".encode() in listener.requests[0]

    @pytest.mark.parametrize("trusts", [True, False])
    def test_certificate_of_another_name_is_rejected(
        self, listener: Listener, tmp_path: Path, trusts: bool
    ) -> None:
        name = "other.example" if trusts else "shop.example"
        listener.tls, trusted = certified(name, tmp_path, listener.names)
        sender = WebhookSender(
            LOOPBACK,
            resolve=resolver("127.0.0.1"),
            certificates=trusted if trusts else None,
        )
        (received,) = post(sender, f"https://shop.example:{listener.port}/")
        assert (received.status, received.failure) == (None, sending.CANNOT_CONNECT)
        assert listener.requests == []


def certified(
    name: str, folder: Path, asked: list[str | None]
) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Yield a server with a certificate for a name, and a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    server.sni_callback = lambda _socket, told, _context: asked.append(told)
    return server, ssl.create_default_context(cafile=str(file))
