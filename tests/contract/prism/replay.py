"""Replays recorded exchanges through Prism as a validating proxy, and counts its objections.

`python -m tests.contract.prism.replay DIRECTORY PRISM` prints the figures of every recorded
service, and exits with 1 if Prism objects to a response, or to an accepted request, for a reason
that is not in tests/contract/prism/known.py.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx

from tests.contract.prism.controls import controls, method_of, unnoticed
from tests.contract.prism.exchanges import Exchange, read
from tests.contract.prism.forms import FORM, Forms
from tests.contract.prism.known import known
from tests.contract.prism.reading import for_prism
from tests.contract.prism.upstream import HOP_BY_HOP, WHICH, upstream
from tests.live.running_server import free_port
from tests.support.served import served

BASES = {"payment": "", "chat": "/api/v1"}
FOR_OPERATORS = ("/healthz", "/readyz", "/metrics")
"""Undocumented paths of the server itself."""
AT_ONCE = 8
START_S = 120.0
Violation = Mapping[str, Any]


@contextmanager
def proxy(prism: str, document: Path, target: str, log: Path) -> Iterator[str]:
    """Yield the address of Prism in front of `target`."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [prism, "proxy", str(document), target, "-h", "127.0.0.1", "-p", str(port)],
            stdout=output,
            stderr=output,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_S
        while b"Prism is listening" not in log.read_bytes():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(15)


def is_sent(service: str, exchange: Exchange) -> bool:
    """Return whether an exchange can be replayed: Prism answers HEAD and OPTIONS itself, and
    handles only documented requests.
    """
    try:
        unquote(exchange.target.partition("?")[0], errors="strict")
    except UnicodeDecodeError:  # a path with such bytes ends Prism
        return False
    named = exchange.method not in ("HEAD", "OPTIONS") and exchange.target not in FOR_OPERATORS
    return named and exchange.target.startswith(BASES[service] + "/")


async def replay(
    service: str, exchanges: Sequence[Exchange], address: str
) -> list[tuple[Exchange, httpx.Response]]:
    """Return Prism's responses to all exchanges that can be replayed."""
    gate = asyncio.Semaphore(AT_ONCE)
    forms = Forms(served(service))
    limits = httpx.Limits(max_keepalive_connections=0)  # Prism closes them silently
    async with httpx.AsyncClient(
        base_url=address, timeout=60, trust_env=False, limits=limits
    ) as client:

        async def one(at: int, exchange: Exchange) -> tuple[Exchange, httpx.Response]:
            target = exchange.target.removeprefix(BASES[service])
            method, content = method_of(exchange), exchange.request_body
            headers = {
                name.lower(): value.strip()
                for name, value in exchange.request_headers
                if name.lower() not in HOP_BY_HOP
            }
            if headers.get("content-type", "").startswith(FORM):
                translated = forms.as_json(method, target.partition("?")[0], content)
                if translated is not None:
                    content, headers["content-type"] = translated, "application/json"
            async with gate:
                try:
                    answer = await client.request(
                        method,
                        target,
                        headers={
                            k: v.encode("latin-1") for k, v in (headers | {WHICH: str(at)}).items()
                        },
                        content=content or None,
                    )
                except httpx.TransportError as error:  # Node rejects such a request unread
                    answer = httpx.Response(502, text=repr(error))
            return exchange, answer

        return list(await asyncio.gather(*(one(at, e) for at, e in enumerate(exchanges))))


def find_objections(
    service: str, exchange: Exchange, answer: httpx.Response
) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of all objections of Prism to an exchange."""
    place = f"{method_of(exchange)} {exchange.target.partition('?')[0]} {exchange.status}"
    violations = json.loads(answer.headers.get("sl-violations", "[]"))
    if answer.status_code != exchange.status:
        yield "not compared", f"{exchange.status} became {answer.status_code}: {answer.text[:200]}"
    for violation in violations:
        where = ".".join(map(str, violation["location"]))
        side = violation["location"][0]
        text = f"{place}: {where}: {violation['message']}"
        reason = known(service, exchange, violation)
        if reason:
            yield f"{side}: {reason}", text
        elif side == "request" and 400 <= exchange.status < 500:
            yield "request refused by the service too", text
        else:
            yield f"UNEXPLAINED {side}", text


def main(directory: Path, prism: str) -> int:
    unexplained = 0
    for path in sorted(directory.glob("*.jsonl")):
        service = path.stem
        exchanges = [exchange for exchange in read(path) if is_sent(service, exchange)]
        broken = controls(served(service), BASES[service], exchanges)
        document = directory / f"{service}.json"
        document.write_text(json.dumps(for_prism(served(service))))
        with (
            upstream([*exchanges, *broken]) as target,
            proxy(prism, document, target, directory / f"prism-{service}.log") as address,
        ):
            all_answers = asyncio.run(replay(service, [*exchanges, *broken], address))
        answers, controlled = all_answers[: len(exchanges)], all_answers[len(exchanges) :]
        objected = [
            any(kind == "UNEXPLAINED response" for kind, _ in find_objections(service, *pair))
            for pair in controlled
        ]
        silent = list(unnoticed(controlled, objected))
        assert any(objected), "Prism has objected to no control"
        assert not silent, "Prism has accepted invalid responses:\n" + "\n".join(silent)
        found: Counter[str] = Counter()
        with (directory / f"violations-{service}.txt").open("w") as details:
            for exchange, answer in answers:
                for kind, what in find_objections(service, exchange, answer):
                    found[kind] += 1
                    details.write(f"{kind}\t{what}\n")
                    if kind.startswith("UNEXPLAINED"):
                        print(f"{service}: {kind}: {what}")
        print(f"{service}: {len(answers)} exchanges through Prism, {sum(objected)} controls")
        for kind, count in found.most_common():
            print(f"  {count:6} {kind}")
            unexplained += count * kind.startswith("UNEXPLAINED")
    return min(unexplained, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
