"""One HTTP exchange with a service of somebody else's: short, bounded, and never redirected.

The whole exchange has one deadline and the answer one size; no address comes from a request, and an
answer cannot send us elsewhere. No URL, header or body goes into an error: they may hold secrets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from adapters.bounded_http import LOOPBACK, AnswerRefused, read_whole_async, verification_for

ANSWER_LIMIT = 256 * 1024
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "specd"}


class NoAnswer(Exception):
    """No whole answer came: refused, hung, broken off, too long, or encoded without being asked."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `document` is its JSON object, None when the body is anything else."""

    status: int
    document: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Peer:
    """A service at a configured address; `timeout_s` is for a whole exchange."""

    url: str = field(repr=False)
    timeout_s: float

    async def send(
        self,
        method: str,
        path: str,
        *,
        credentials: tuple[str, str] | None = None,
        bearer: str | None = None,
        form: Mapping[str, str] | None = None,
        document: Any = None,
    ) -> Answer:
        """One exchange. Raises `NoAnswer`."""
        headers = dict(_HEADERS)
        if bearer is not None:
            headers["Authorization"] = f"Bearer {bearer}"
        content = None
        if document is not None:
            headers["Content-Type"] = "application/json"
            content = orjson.dumps(document)
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                self._client() as client,
                client.stream(
                    method,
                    self.url + path,
                    headers=headers,
                    data=form,
                    content=content,
                    auth=credentials,
                ) as answer,
            ):
                body = await read_whole_async(answer, ANSWER_LIMIT)
                status = answer.status_code
        except AnswerRefused as refusal:
            raise NoAnswer(str(refusal)) from None
        except TimeoutError:
            raise NoAnswer(f"no whole answer within {self.timeout_s:g} s") from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise NoAnswer("cannot connect") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise NoAnswer(f"the exchange broke ({type(error).__name__})") from None
        return Answer(status, _document(body))

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            timeout=self.timeout_s,
            follow_redirects=False,
            trust_env=urlsplit(self.url).hostname not in LOOPBACK,
            verify=verification_for(self.url),
        )


def _document(body: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
