"""A client that follows the events of a project with long polls of `GET /v1/events`."""

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
"""How long a response may take in addition to the requested wait."""
PAGE = 100
PAUSES_S = (1.0, 2.0, 5.0)
"""The pauses between attempts to reach an unavailable server. The last one is repeated."""
AWAY = frozenset((429, 500, 502, 503, 504))


class Event(TypedDict):
    """An event of `GET /v1/events`."""

    id: str
    type: str
    created_at: int
    invoice_id: str | None
    data: Json


class FeedRefused(Exception):
    """The server rejects the key or does not support the operation."""


class Feed:
    """The events of a project. If the server is unavailable, requests are repeated until it
    answers. `report` is called with a sentence when that begins and ends.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        report: Callable[[str], None],
        rest: Callable[[float], None] = time.sleep,
        wait_s: int = WAIT_S,
    ) -> None:
        self._client = httpx.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(ANSWER_S, read=wait_s + ANSWER_S),
            trust_env=urlsplit(url).hostname not in LOOPBACK,
        )
        self._report, self._rest, self._wait_s = report, rest, wait_s
        self._tries = 0

    def close(self) -> None:
        self._client.close()

    def newest(self) -> str | None:
        """Return the cursor after the newest event, or None if there are no events. Raise
        `FeedRefused`.
        """
        after, has_more = None, True
        while has_more:
            _, has_more, after = self._page(after, wait_s=0)
        return after

    def follow(self, after: str | None) -> Iterator[Event]:
        """Yield all events after `after` and then new ones, without end. Raise `FeedRefused`."""
        while True:
            events, _, after = self._page(after, wait_s=self._wait_s)
            yield from events

    def _page(self, after: str | None, *, wait_s: int) -> tuple[list[Event], bool, str | None]:
        query: dict[str, str | int] = {"limit": PAGE, "wait_s": wait_s}
        if after is not None:
            query["after"] = after
        while True:
            try:
                answer = self._client.get("/v1/events", params=query)
            except httpx.TransportError:
                self._pause(None)
                continue
            if answer.status_code in AWAY:
                self._pause(answer.headers.get("Retry-After"))
                continue
            body = _parsed(answer)
            if self._tries:
                self._report("The server responds again.")
            self._tries = 0
            return body["data"], body["has_more"], body["next_cursor"]

    def _pause(self, retry_after: str | None) -> None:
        if not self._tries:
            self._report("The server does not respond; retrying.")
        pause = PAUSES_S[min(self._tries, len(PAUSES_S) - 1)]
        self._tries += 1
        self._rest(float(retry_after) if retry_after and retry_after.isdigit() else pause)


def _parsed(answer: httpx.Response) -> Json:
    """Return the body of a response. Raise `FeedRefused` if it is not a page of events."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code == 200 and isinstance(body, dict) and "next_cursor" in body:
        return body
    message = body.get("message") if isinstance(body, dict) else None
    raise FeedRefused(f"{answer.status_code}: {message or 'this is not the payment service'}")
