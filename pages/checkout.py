"""The checkout page and its live status. The token in the URL is a secret and is never logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, abort, jsonify, render_template
from flask.typing import ResponseReturnValue

from models.payment.checkout_sessions import CheckoutView, find_checkout
from models.payment.money import format_units
from pages.explorers import transaction_url
from pages.qr import draw_qr
from pages.served import Served
from pages.wording import describe, find_row, is_closed, is_payable, with_symbol
from specd.db import UtcMs
from specd.pages import Catalogue, Texts

FindCheckout = Callable[[str], CheckoutView | None]

NO_URLS: Mapping[int, str] = MappingProxyType({})
TEXTS = Catalogue(Path(__file__).with_name("texts"))
POLL_MS = 2000
"""The interval at which an open page polls the status."""

# Payments no longer change these statuses, so the page stops polling.
FINAL = frozenset({"paid", "canceled"})


def install_for(app: Flask, service: Served) -> None:
    """Add the pages for a service, which read checkouts from its database."""

    def look_up(token: str) -> CheckoutView | None:
        with service.database.reading() as connection:
            return find_checkout(connection, token, service.clock.now())

    entries = (entry.partition("=") for entry in service.settings.wallet_rpc_urls)
    install(app, look_up, wallet_rpc_urls={int(chain): url for chain, _, url in entries})


def install(
    app: Flask,
    look_up: FindCheckout,
    *,
    poll_ms: int = POLL_MS,
    wallet_rpc_urls: Mapping[int, str] = NO_URLS,
) -> None:
    """Add the page, GET /checkout/<token>, and the status that it polls, /checkout/<token>/status.

    `look_up` returns the current checkout of a token. `wallet_rpc_urls`: by chain id, the RPC URLs
    with which shoppers' wallets can add the chain.
    """

    def show_checkout(token: str) -> ResponseReturnValue:
        view = look_up(token)
        texts = TEXTS.choose()
        if view is None:
            abort(404, texts.write("messages.unknown_link"))
        rpc = wallet_rpc_urls.get(view.chain_id, "")
        facts = present(view, texts)
        page = render_template("checkout.html", poll_ms=poll_ms, wallet_rpc=rpc, **facts)
        headers = {"Content-Language": texts.language, "Vary": "Accept-Language"}
        return page, 410 if is_closed(view) else 200, headers

    def read_status(token: str) -> ResponseReturnValue:
        view = look_up(token)
        if view is None:
            return jsonify(state="unknown"), 404
        return jsonify(**status_of(view)), 410 if is_closed(view) else 200

    app.get("/checkout/<token>")(show_checkout)
    app.get("/checkout/<token>/status")(read_status)


def present(view: CheckoutView, texts: Texts) -> dict[str, Any]:
    """Return all values for the template, which computes nothing."""
    return {
        "view": view,
        "lang": texts.language,
        "t": texts.mark_up,
        "script_texts": texts.of_section("script"),
        "languages": {
            each.language: each.entries["general.name"] for each in TEXTS.languages.values()
        },
        "wording": describe(view, texts),
        "status": status_of(view),
        "is_payable": is_payable(view),
        "atoms_due": amount_due(view),
        "exact": format_units(amount_due(view), view.decimals),
        "due": texts.write_decimal(format_units(amount_due(view), view.decimals)),
        "amount": with_symbol(view, view.amount, texts),
        "received": with_symbol(view, view.amount_paid + view.amount_pending, texts),
        "payment_uri": uri_for_rest(view),
        "qr": draw_qr(uri_for_rest(view), label_of(view, texts)) if is_payable(view) else None,
        "transactions": [
            (tx_hash, transaction_url(view.chain_id, tx_hash)) for tx_hash in view.transactions
        ],
        "back": back_url(view),
        "back_host": urlsplit(back_url(view) or "").netloc,
        "deadline": deadline_of(view),
        "time_left": write_time_left(deadline_of(view), view.now),
    }


def status_of(view: CheckoutView) -> dict[str, Any]:
    """Return the status record. Times are in Unix ms. `revision` changes if the content of the
    page would change.
    """
    record: dict[str, Any] = {
        "state": find_row(view).state,
        "status": view.status,
        "exception": view.exception,
        "confirmations": min(view.confirmations, view.confirmations_required),
        "confirmations_required": view.confirmations_required,
        "amount_paid": str(view.amount_paid),
        "amount_pending": str(view.amount_pending),
        "is_payable": is_payable(view),
        "is_final": view.status in FINAL,
    }
    revision = ".".join(str(value) for value in record.values())
    return record | {
        "revision": revision,
        "now": UtcMs.to_ms(view.now),
        "deadline": UtcMs.to_ms(deadline_of(view)),
    }


def amount_due(view: CheckoutView) -> int:
    """Return the amount in atoms to show prominently: the remaining amount while the invoice can be
    paid, otherwise the full amount.
    """
    return view.amount_remaining if is_payable(view) else view.amount


def label_of(view: CheckoutView, texts: Texts) -> str:
    """Return the text alternative of the QR code."""
    due = with_symbol(view, amount_due(view), texts)
    return texts.write("page.qr_label", amount=due, chain=view.chain_name)


def back_url(view: CheckoutView) -> str | None:
    """Return the shop's URL at which the shopper continues, or None if the shop did not set one."""
    return view.success_url if view.status in ("processing", "paid") else view.cancel_url


def deadline_of(view: CheckoutView) -> datetime:
    """Return when the page stops requesting a payment."""
    return min(view.expires_at, view.session_expires_at)


def write_time_left(deadline: datetime, now: datetime) -> str:
    """Return the remaining time as `29:59` or `1:29:59`, or `0:00` after the deadline."""
    seconds = max(0, int((deadline - now).total_seconds()))
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def uri_for_rest(view: CheckoutView) -> str:
    """Return the EIP-681 URI for the remaining amount, so that a second scan does not overpay."""
    request, _, _ = view.payment_uri.rpartition("uint256=")
    return f"{request}uint256={amount_due(view)}"
