"""`specd payment scenario`: runs the test helpers' scenarios against a shop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import click
import httpx

from adapters.exchanges import LOOPBACK
from cli.given_secrets import read_secret
from cli.payment_events import RECEIVER_S, forward, line_of
from cli.payment_feed import Event
from models.webhooks import signing
from settings import Settings
from specd.commands import answer, json_option

ANSWER_S = 30.0
WAIT_S = 1
"""How long the server waits for further events before it answers."""
FORGED = "forged"
"""The scenario in which the receiver must reject a message with a wrong signature."""
ENDED = ("passed", "failed")
PAGE = 100


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--forward-to",
    "receiver",
    metavar="URL",
    help="Also send each event of a run to this URL, signed like webhooks.",
)
@click.option(
    "--secret",
    envvar="WEBHOOK_SECRET",
    callback=read_secret,
    help="Signing secret (whsec_...) of --forward-to, as @FILE, or - for standard input; better in"
    " the variable WEBHOOK_SECRET.  [default: a new one, which is shown]",
)
@click.option("--order", "order_id", help="Run on the first attempt at this order of your shop.")
@click.option("--invoice", "invoice_id", help="Run on this invoice of your shop.")
@click.option(
    "--shop-url",
    metavar="URL",
    help="URL from which each run requests the result of your shop; it must be correct.",
)
@click.option("--method", "method_id", help="Payment method.  [default: the project's first one]")
@click.option(
    "--key",
    envvar="KEY",
    required=True,
    callback=read_secret,
    help="API key of the project, as @FILE, or - for standard input; better in the variable KEY.",
)
@click.option("--url", help="URL of the server.  [default: SPECD_PUBLIC_URL]")
@json_option
def scenario(
    names: tuple[str, ...],
    receiver: str | None,
    secret: str | None,
    method_id: str | None,
    order_id: str | None,
    invoice_id: str | None,
    shop_url: str | None,
    key: str,
    url: str | None,
    as_json: bool,
) -> None:
    """Run test scenarios and show their results.

    Runs the scenarios named NAME, by default all. Exits 1 if a scenario fails: if a step does not
    reach its state, if a webhook endpoint or --forward-to answers an event without 2xx, or if the
    result of the shop at --shop-url is wrong.
    """
    if (order_id or invoice_id) and len(names) != 1:
        raise click.UsageError("Choose one scenario for --order or --invoice.")
    if receiver and urlsplit(receiver).scheme not in ("http", "https"):
        raise click.BadParameter("is not an http or https URL", param_hint="--forward-to")
    if receiver and secret is None:
        secret = signing.new_secret()
        click.echo(f"Events are signed with {secret}", err=True)
    elif secret is not None and not signing.is_secret(secret):
        raise click.BadParameter("is not a secret that begins with whsec_", param_hint="--secret")
    address = url or Settings.from_env().public_url
    with Bench(address, key, receiver, secret or "") as bench:
        asked = {
            "payment_method_id": method_id,
            "external_order_id": order_id,
            "invoice_id": invoice_id,
            "shop_url": shop_url,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        runs = [bench.run(name, given) for name in names or bench.names()]
    failed = [run["scenario"] for run in runs if run["state"] == "failed"]
    answer(
        {"runs": runs, "failed": failed},
        as_json=as_json,
        text=f"{len(runs) - len(failed)} of {len(runs)} scenarios passed.",
    )
    if failed:
        raise click.exceptions.Exit(1)


class Bench:
    """A client of a server's test helpers that forwards events to a receiver, if there is one."""

    def __init__(self, url: str, key: str, receiver: str | None, secret: str) -> None:
        self._api = httpx.Client(
            base_url=f"{url.rstrip('/')}/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=ANSWER_S,
            trust_env=urlsplit(url).hostname not in LOOPBACK,
        )
        self._receiver, self._secret = receiver, secret
        local = receiver is None or urlsplit(receiver).hostname in LOOPBACK
        self._shop = httpx.Client(timeout=RECEIVER_S, trust_env=not local)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()
        self._shop.close()

    def names(self) -> list[str]:
        """Return the names of all scenarios."""
        return [each["name"] for each in self._ask("GET", "/test-helpers/scenarios")["data"]]

    def run(self, name: str, body: dict[str, str]) -> dict[str, Any]:
        """Run a scenario to its end and print its progress. `body` is the RunRequest."""
        click.echo(f"{name}:", err=True)
        run = started = self._ask("POST", f"/test-helpers/scenarios/{name}/runs", json=body)
        shown, refused = 0, []
        for run, events in self._follow(started):
            for step in run["steps"][shown:]:
                if step["result"] is None:
                    break
                click.echo(f"  {step['step']}: {step['result']}", err=True)
                shown += 1
            for event in events:
                said = self._forward(event)
                if said is not None and not said.startswith("2"):
                    refused.append(f"{self._receiver} responded to {event['type']} with {said}")
                click.echo(f"  {line_of(event)}{f' -> {said}' if said else ''}", err=True)
                if name == FORGED and self._is_fooled(event):
                    refused.append(
                        f"{self._receiver} accepted {event['type']} with a wrong signature"
                    )
        if refused and run["state"] == "passed":
            run = run | {"state": "failed", "failure": refused[0]}
        expected = run["expected"]
        click.echo(
            f"  {run['state']}{': ' + run['failure'] if run['failure'] else ''};"
            f" order {run['external_order_id']}: fulfill {expected['fulfilments']} x, return"
            f" {run['amount_to_return']} of {run['amount']} atoms ({expected['refund']})",
            err=True,
        )
        return run

    def _follow(self, run: dict[str, Any]) -> Iterator[tuple[dict[str, Any], list[Event]]]:
        """Yield the run with its new events, until it has ended and there are no more events."""
        invoices = [
            run["invoice_id"],
            *([run["next_invoice_id"]] if run["next_invoice_id"] else []),
        ]
        after: dict[str, str | None] = dict.fromkeys(invoices)
        while True:
            has_ended = run["state"] in ENDED
            events: list[Event] = []
            for invoice_id, place in after.items():
                wait_s = 0 if has_ended or invoice_id != invoices[-1] else WAIT_S
                query = {"invoice_id": invoice_id, "limit": PAGE, "wait_s": wait_s}
                page = self._ask(
                    "GET", "/events", params=query | ({"after": place} if place else {})
                )
                after[invoice_id] = page["next_cursor"]
                events += page["data"]
            yield run, events
            if has_ended and not events:
                return
            run = self._ask("GET", f"/test-helpers/runs/{run['id']}")

    def _forward(self, event: Event) -> str | None:
        """Forward an event. Return the result as text, or None if there is no receiver."""
        if self._receiver is None:
            return None
        return forward(self._shop, self._receiver, event, self._secret)

    def _is_fooled(self, event: Event) -> bool:
        """Send the event with a wrong signature. Return whether the receiver accepts it."""
        if self._receiver is None:
            return False
        return forward(self._shop, self._receiver, event, signing.new_secret()).startswith("2")

    def _ask(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        try:
            response = self._api.request(method, path, **sent)
        except httpx.HTTPError as error:
            raise click.ClickException(
                f"the server does not respond ({type(error).__name__})"
            ) from None
        told: dict[str, Any] = response.json()
        if response.is_error:
            why = told.get("message", response.reason_phrase)
            if told.get("code") == "not_found":
                why = "test helpers are disabled; set SPECD_PAYMENT_TEST_HELPERS=on"
            raise click.ClickException(f"the server rejected the request: {why}")
        return told
