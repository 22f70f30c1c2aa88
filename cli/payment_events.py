"""`specd payment events` and `specd payment listen`: follow a project's events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click
import httpx

from adapters.exchanges import LOOPBACK
from cli.given_secrets import read_secret
from cli.payment_feed import Event, Feed, FeedRefused
from models.webhooks import signing
from settings import Settings
from specd.db import Clock, UtcMs

RECEIVER_S = 15.0
"""The timeout for requests to a receiver."""
RETRY_S = 2.0
"""The pause before an event is sent again that the receiver did not accept (`--resume`)."""
F = TypeVar("F", bound=Callable[..., Any])


def feed_options(command: F) -> F:
    """Add the options of an event feed: the project's key, the server, and the first event."""
    for option in (
        click.option(
            "--all", "from_start", is_flag=True, help="Begin with the oldest stored event."
        ),
        click.option("--after", metavar="EVENT", help="Begin after this event.  [default: now]"),
        click.option(
            "--key",
            envvar="KEY",
            required=True,
            help="API key of the project; better in the variable KEY.",
        ),
        click.option("--url", help="URL of the server.  [default: SPECD_PUBLIC_URL]"),
    ):
        command = option(command)
    return command


@click.command()
@feed_options
@click.option("--json", "as_json", is_flag=True, help="Print each event as one line of JSON.")
def events(url: str | None, key: str, after: str | None, from_start: bool, as_json: bool) -> None:
    """Follow the events of a project.

    Prints each new event until interrupted.
    """
    with following(url, key, after, from_start=from_start) as found:
        for event in found:
            click.echo(json.dumps(event) if as_json else line_of(event))


@click.command()
@feed_options
@click.option(
    "--forward-to",
    "receiver",
    required=True,
    metavar="URL",
    help="URL that events are sent to.",
)
@click.option(
    "--secret",
    envvar="WEBHOOK_SECRET",
    callback=read_secret,
    help="Signing secret (whsec_...), as @FILE, or - for standard input; better in the variable"
    " WEBHOOK_SECRET.  [default: a new one, which is shown]",
)
@click.option(
    "--resume",
    "place",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Store the last delivered event in this file, start after it, and send each event again"
    " until it is accepted.",
)
def listen(
    url: str | None,
    key: str,
    after: str | None,
    from_start: bool,
    receiver: str,
    secret: str | None,
    place: Path | None,
) -> None:
    """Forward the events of a project to a local address.

    For development. Requests are signed like webhooks. Each event is sent once, or with --resume
    until the address answers 2xx.
    """
    if urlsplit(receiver).scheme not in ("http", "https"):
        raise click.BadParameter("is not an http or https URL", param_hint="--forward-to")
    if secret is None:
        secret = signing.new_secret()
        click.echo(f"Events are signed with {secret}")
    elif not signing.is_secret(secret):
        raise click.BadParameter("is not a secret that begins with whsec_", param_hint="--secret")
    if place is not None and after is None and place.exists():
        after = place.read_text().strip() or None
    trusts = urlsplit(receiver).hostname not in LOOPBACK
    with (
        following(url, key, after, from_start=from_start) as found,
        httpx.Client(timeout=RECEIVER_S, trust_env=trusts) as client,
    ):
        for event in found:
            while True:
                said = forward(client, receiver, event, secret)
                click.echo(f"{line_of(event)} -> {said}")
                if place is None or said.startswith("2"):
                    break
                time.sleep(RETRY_S)
            if place is not None:
                place.write_text(event["id"])


@contextmanager
def following(
    url: str | None, key: str, after: str | None, *, from_start: bool
) -> Iterator[Iterator[Event]]:
    """Yield an iterator over the events. Ctrl-C ends the command without a message. If the server
    rejects the request, raise ClickException with its message.
    """
    address = url or Settings.from_env().public_url
    with closing(Feed(address, key, report=lambda text: click.echo(text, err=True))) as feed:
        try:
            if after is None and not from_start:
                after = feed.newest()
            click.echo(f"Following the events at {address}; Ctrl-C stops it.", err=True)
            yield feed.follow(after)
        except FeedRefused as error:
            raise click.ClickException(f"the server rejected the request: {error}") from None
        except KeyboardInterrupt:
            return


def forward(client: httpx.Client, receiver: str, event: Event, secret: str) -> str:
    """Send an event as a webhook. Return the status of the response and the duration as text."""
    at = UtcMs.from_ms(event["created_at"])
    body = signing.write_message(event["id"], event["type"], at, event["data"])
    headers = signing.sign(event["id"], body, [secret], now=Clock().now())
    headers = {"Content-Type": "application/json", **headers}
    began = time.monotonic()
    try:
        answer = client.post(receiver, content=body, headers=headers)
        result = f"{answer.status_code} {answer.reason_phrase}".rstrip()
    except httpx.HTTPError as error:
        result = f"no response ({type(error).__name__})"
    return f"{result}, {(time.monotonic() - began) * 1000:.0f} ms"


def line_of(event: Event) -> str:
    """Format an event as a line: time (UTC), id, type, invoice id and invoice status."""
    at = datetime.fromtimestamp(event["created_at"] / 1000, UTC)
    invoice = event["data"].get("invoice", {})
    words = [event["id"], event["type"], event["invoice_id"] or "", invoice.get("status", "")]
    if invoice.get("exception", "none") != "none":
        words.append(invoice["exception"])
    return " ".join([f"{at:%H:%M:%S}", *filter(None, words)])
