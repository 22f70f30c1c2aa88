"""Selects the checkout page's texts for each state of an invoice, without input or output."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from models.payment.checkout_sessions import CheckoutView
from models.payment.money import format_units
from specd.pages import Texts


class Tone(StrEnum):
    """The color and the icon of the status. Color is never the only indicator."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    WARNING = "warning"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Row:
    """A state of the page. `state` is its name for the style sheet, the script and tests, and `key`
    the name of its texts in the catalog.
    """

    state: str
    tone: Tone
    key: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A state of the page with its texts."""

    state: str
    tone: Tone
    title: str
    text: str


# (status, exception) -> row.
_OPEN = {
    ("unpaid", "none"): Row("unpaid", Tone.WAITING, "unpaid"),
    ("unpaid", "partial"): Row("partial", Tone.WARNING, "partial"),
    ("unpaid", "late"): Row("late", Tone.WARNING, "late"),
    ("unpaid", "reorged"): Row("reorged", Tone.WARNING, "reorged"),
    ("processing", "none"): Row("processing", Tone.WORKING, "processing"),
    ("processing", "reorged"): Row("reorged", Tone.WORKING, "processing_reorged"),
    ("paid", "none"): Row("paid", Tone.DONE, "paid"),
    ("paid", "over"): Row("over", Tone.DONE, "over"),
    ("expired", "none"): Row("expired", Tone.STOPPED, "expired"),
    ("expired", "partial"): Row("expired", Tone.WARNING, "expired_partial"),
    ("expired", "late"): Row("late", Tone.WARNING, "expired_late"),
    ("expired", "reorged"): Row("reorged", Tone.WARNING, "expired_reorged"),
    ("canceled", "none"): Row("canceled", Tone.STOPPED, "canceled"),
    ("canceled", "late"): Row("late", Tone.WARNING, "canceled_late"),
}

# While a payment is being confirmed, "over" is not an exception of the invoice yet.
_PROCESSING_OVER = Row("processing", Tone.WORKING, "processing_over")

# The session has expired but the invoice can still be paid: only the link to the shop is shown.
_CLOSED = {
    "none": Row("closed", Tone.STOPPED, "closed"),
    "partial": Row("closed", Tone.WARNING, "closed_partial"),
    "reorged": Row("closed", Tone.WARNING, "closed_reorged"),
    "late": _OPEN["unpaid", "late"],
}


def is_closed(view: CheckoutView) -> bool:
    """Return whether the session (not the invoice) has expired. The page then responds with 410."""
    return view.now >= view.session_expires_at


def is_payable(view: CheckoutView) -> bool:
    """Return whether the page may still request a payment."""
    return view.status == "unpaid" and view.exception != "late" and not is_closed(view)


def find_row(view: CheckoutView) -> Row:
    if view.status == "unpaid" and is_closed(view):
        return _CLOSED[view.exception]
    if (view.status, view.exception) == ("processing", "none") and view.amount_overpaid:
        return _PROCESSING_OVER
    return _OPEN[view.status, view.exception]


def describe(view: CheckoutView, texts: Texts) -> Wording:
    """Return the title and text for `view` in the language of `texts`."""
    row = find_row(view)
    values = {
        "amount": with_symbol(view, view.amount, texts),
        "received": with_symbol(view, view.amount_paid + view.amount_pending, texts),
        "remaining": with_symbol(view, view.amount_remaining, texts),
        "over": with_symbol(view, view.amount_overpaid, texts),
        "chain": view.chain_name,
        "confirmations": min(view.confirmations, view.confirmations_required),
        "required": view.confirmations_required,
    }
    title = texts.write(f"states.{row.key}.title", **values)
    return Wording(row.state, row.tone, title, texts.write(f"states.{row.key}.text", **values))


def with_symbol(view: CheckoutView, atoms: int, texts: Texts) -> str:
    """Format an amount in atoms for the shopper, such as `12.5 TUSD`."""
    return f"{texts.write_decimal(format_units(atoms, view.decimals))} {view.token_symbol}"
