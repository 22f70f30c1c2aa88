"""One exchange with an outside service: limited in time and size, without revealing a secret."""

import asyncio
import gzip
import time
from collections.abc import Iterator

import pytest

from adapters.exchanges import Answer, NoAnswer, Peer
from demo.local_server import LocalServer, Reply, Request


class Echo:
    """Responds with the request, or with `reply`."""

    reply: Reply | None = None

    def __call__(self, request: Request) -> Reply:
        return self.reply or Reply(
            201,
            {
                "method": request.method,
                "path": request.path,
                "form": request.form.to_dict(),
                "document": request.document,
                "credentials": request.credentials,
                "bearer": request.bearer,
            },
        )


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def server(echo: Echo) -> Iterator[LocalServer]:
    running = LocalServer(echo)
    running.start()
    yield running
    running.close()


def send(peer: Peer, **what: object) -> Answer:
    return asyncio.run(peer.send("POST", "/hush-path", **what))  # type: ignore[arg-type]


def test_sends_forms_documents_and_credentials(server: LocalServer) -> None:
    peer = Peer(server.url, 10)
    told = send(peer, form={"a": "1&2", "b": "ü"}, credentials=("name", "pass:word"))
    assert told == Answer(201, {
        "method": "POST", "path": "/hush-path", "form": {"a": "1&2", "b": "ü"}, "document": None,
        "credentials": ["name", "pass:word"], "bearer": None,
    })  # fmt: skip
    told = send(peer, document={"x": [1]}, bearer="t")
    assert told.document is not None
    assert (told.document["document"], told.document["bearer"]) == ({"x": [1]}, "t")


def test_local_services_are_called_without_a_proxy(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert send(Peer(server.url, 10)).status == 201


@pytest.mark.parametrize(("reply", "answer"), [
    (Reply(200, body=b"[1]"), Answer(200, None)),
    (Reply(200, body=b"<p>"), Answer(200, None)),
    (Reply(500, body=b""), Answer(500, None)),
    (Reply(302, headers={"Location": "http://127.0.0.1:9/"}), Answer(302, None)),
])  # fmt: skip
def test_response_must_be_an_object_and_not_a_redirect(
    server: LocalServer, echo: Echo, reply: Reply, answer: Answer
) -> None:
    echo.reply = reply
    assert send(Peer(server.url, 10)) == answer


def test_compressed_response_is_rejected(server: LocalServer, echo: Echo) -> None:
    packed = gzip.compress(b"0" * 1_000_000)
    echo.reply = Reply(200, body=packed, headers={"Content-Encoding": "gzip"})
    with pytest.raises(NoAnswer, match="encoding"):
        send(Peer(server.url, 10))


@pytest.mark.parametrize(("fault", "reason"), [
    ("hang", "no whole answer within 0.1 s"),
    ("break", "the exchange broke"),
    ("flood", "answered more than 262144 bytes"),
    ("refused", "cannot connect"),
])  # fmt: skip
def test_timeout_does_not_reveal_a_secret(server: LocalServer, fault: str, reason: str) -> None:
    url = "http://hush-name:hush-password@127.0.0.1:9" if fault == "refused" else server.url
    server.fault = fault
    began = time.monotonic()
    with pytest.raises(NoAnswer, match=reason) as failed:
        send(Peer(url, 0.1 if fault == "hang" else 10), bearer="hush-token")
    assert time.monotonic() - began < 5
    assert "hush" not in str(failed.value) + repr(Peer(url, 1))
