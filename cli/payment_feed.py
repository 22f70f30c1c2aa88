"""The events of a project, followed by the long poll of `GET /v1/events` with an API key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypedDict
from urllib.parse import urlsplit

import httpx

from adapters.exchanges import LOOPBACK
from models.json import Json

WAIT_S = 25
ANSWER_S = 20.0
"""How long an answer may take beyond what was asked to wait."""
PAGE = 100
PAUSES_S = (1.0, 2.0, 5.0)
"""Between tries to reach a server that is away; the last one again and again."""
AWAY = frozenset((429, 500, 502, 503, 504))


class Event(TypedDict):
    """An event as `GET /v1/events` tells it."""

    id: str
    type: str
    created_at: int
    invoice_id: str | None
    data: Json


class FeedRefused(Exception):
    """The server does not tell events to this key, or does not have the operation."""


class Feed:
    """One project's events. `tell` is given a sentence when the server goes away and comes back;
    it is waited for.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        tell: Callable[[str], None],
        rest: Callable[[float], None] = time.sleep,
        wait_s: int = WAIT_S,
    ) -> None:
        self._client = httpx.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(ANSWER_S, read=wait_s + ANSWER_S),
            trust_env=urlsplit(url).hostname not in LOOPBACK,
        )
        self._tell, self._rest, self._wait_s = tell, rest, wait_s
        self._tries = 0

    def close(self) -> None:
        self._client.close()

    def newest(self) -> str | None:
        """The id of the newest event; None where there was never one. Raises `FeedRefused`."""
        after, has_more = None, True
        while has_more:
            _, has_more, after = self._page(after, wait_s=0)
        return after

    def follow(self, after: str | None) -> Iterator[Event]:
        """Every event after that one, as they come, without end. Raises `FeedRefused`."""
        while True:
            events, _, after = self._page(after, wait_s=self._wait_s)
            yield from events

    def _page(self, after: str | None, *, wait_s: int) -> tuple[list[Event], bool, str | None]:
        asked: dict[str, str | int] = {"limit": PAGE, "wait_s": wait_s}
        if after is not None:
            asked["after"] = after
        while True:
            try:
                answer = self._client.get("/v1/events", params=asked)
            except httpx.TransportError:
                self._pause(None)
                continue
            if answer.status_code in AWAY:
                self._pause(answer.headers.get("Retry-After"))
                continue
            body = _parsed(answer)
            if self._tries:
                self._tell("The server answers again.")
            self._tries = 0
            return body["data"], body["has_more"], body["next_cursor"]

    def _pause(self, retry_after: str | None) -> None:
        if not self._tries:
            self._tell("The server does not answer; trying again until it does.")
        pause = PAUSES_S[min(self._tries, len(PAUSES_S) - 1)]
        self._tries += 1
        self._rest(float(retry_after) if retry_after and retry_after.isdigit() else pause)


def _parsed(answer: httpx.Response) -> Json:
    """The body of a page. Raises `FeedRefused` with what the server says instead."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code == 200 and isinstance(body, dict) and "next_cursor" in body:
        return body
    said = body.get("message") if isinstance(body, dict) else None
    raise FeedRefused(f"{answer.status_code}: {said or 'this is not the payment service'}")
