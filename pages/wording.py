"""The texts of the checkout page in each state of an invoice. Pure: a view in, sentences out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from models.payment.checkout_sessions import CheckoutView
from models.payment.money import format_units


class Tone(StrEnum):
    """The colour of the status and the sign beside it (never colour alone)."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    WARNING = "warning"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Wording:
    """`state` names the row for style sheet, script and tests; the rest is for the shopper."""

    state: str
    tone: Tone
    title: str
    text: str


# (status, exception) -> row. {received}, {remaining}, {amount}, {over}: amounts with their symbol.
_OPEN = {
    ("unpaid", "none"): Wording(
        "unpaid",
        Tone.WAITING,
        "Waiting for your payment",
        "Send exactly {amount} on {chain}. The payment shows here a few seconds after you sent it.",
    ),
    ("unpaid", "partial"): Wording(
        "partial",
        Tone.WARNING,
        "Part of the payment is here",
        "{received} of {amount} arrived. "
        "Send the remaining {remaining} to the same address before the time runs out.",
    ),
    ("unpaid", "late"): Wording(
        "late",
        Tone.WARNING,
        "Your payment arrived too late",
        "The chain dates it after the time to pay, so the order is not paid. Send nothing any "
        "more: give the shop the invoice number below to have the payment settled.",
    ),
    ("unpaid", "reorged"): Wording(
        "reorged",
        Tone.WARNING,
        "The chain dropped a payment",
        "The chain was reorganized and a payment seen before is no longer part of it. It often "
        "comes back by itself; if your wallet shows it as failed, send {remaining} again.",
    ),
    ("processing", "none"): Wording(
        "processing",
        Tone.WORKING,
        "Payment found, being confirmed",
        "{confirmations} of {required} confirmations. There is nothing more for you to send.",
    ),
    ("processing", "reorged"): Wording(
        "reorged",
        Tone.WORKING,
        "Payment being confirmed again",
        "The chain was reorganized, so your payment is being confirmed anew: {confirmations} of "
        "{required} confirmations. There is nothing more for you to send.",
    ),
    ("paid", "none"): Wording(
        "paid",
        Tone.DONE,
        "Paid",
        "The shop received {amount}. You can close this page.",
    ),
    ("paid", "over"): Wording(
        "over",
        Tone.DONE,
        "Paid, with {over} too much",
        "The shop received {received} for an amount of {amount}. "
        "Ask the shop to return the difference; the invoice number is below.",
    ),
    ("expired", "none"): Wording(
        "expired",
        Tone.STOPPED,
        "The time to pay is over",
        "Send nothing any more: go back to the shop and start again. "
        "A payment that the chain took in time still counts and will show here.",
    ),
    ("expired", "partial"): Wording(
        "expired",
        Tone.WARNING,
        "The time to pay is over, with a part paid",
        "{received} of {amount} arrived in time. Send nothing any more: "
        "give the shop the invoice number below to settle the part you paid.",
    ),
    ("expired", "late"): Wording(
        "late",
        Tone.WARNING,
        "Your payment arrived too late",
        "The time to pay was over when the chain took it, so the order is not paid. Send nothing "
        "any more: give the shop the invoice number below to have the payment settled.",
    ),
    ("expired", "reorged"): Wording(
        "reorged",
        Tone.WARNING,
        "The chain dropped your payment",
        "The chain was reorganized, a payment seen before is no longer part of it, and the time to "
        "pay is over. Send nothing any more: go back to the shop and start again.",
    ),
    ("canceled", "none"): Wording(
        "canceled",
        Tone.STOPPED,
        "The shop canceled this payment",
        "Send nothing: the shop no longer expects a payment for this order.",
    ),
    ("canceled", "late"): Wording(
        "late",
        Tone.WARNING,
        "A payment arrived after cancellation",
        "The shop had already canceled this order, so it is not paid. Send nothing any more: "
        "give the shop the invoice number below to have the payment settled.",
    ),
}

# While a payment is being confirmed, "over" is not an exception of the invoice yet.
_PROCESSING_OVER = Wording(
    "processing",
    Tone.WORKING,
    "Payment found, being confirmed",
    "{confirmations} of {required} confirmations. You sent {over} more than asked for; "
    "the shop can return it.",
)

# The session is over while the invoice can still be paid: only the way back to the shop is left.
_CLOSED = {
    "none": Wording(
        "closed",
        Tone.STOPPED,
        "This checkout link has expired",
        "Send nothing from this page: go back to the shop and open the payment again.",
    ),
    "partial": Wording(
        "closed",
        Tone.WARNING,
        "This checkout link has expired",
        "{received} of {amount} arrived and is kept. "
        "Go back to the shop and open the payment again to send the remaining {remaining}.",
    ),
    "reorged": Wording(
        "closed",
        Tone.WARNING,
        "This checkout link has expired",
        "The chain dropped a payment that was seen before; it often comes back by itself. "
        "Send nothing from this page: go back to the shop and open the payment again.",
    ),
    "late": _OPEN["unpaid", "late"],
}


def is_closed(view: CheckoutView) -> bool:
    """Return whether the session (not the invoice) is past its end; its page then answers 410."""
    return view.now >= view.session_expires_at


def is_payable(view: CheckoutView) -> bool:
    """Return whether the page may still request a payment."""
    return view.status == "unpaid" and view.exception != "late" and not is_closed(view)


def describe(view: CheckoutView) -> Wording:
    """Return the texts for `view`."""
    row = _OPEN[view.status, view.exception]
    if view.status == "unpaid" and is_closed(view):
        row = _CLOSED[view.exception]
    elif (view.status, view.exception) == ("processing", "none") and view.amount_overpaid:
        row = _PROCESSING_OVER
    facts = {
        "amount": with_symbol(view, view.amount),
        "received": with_symbol(view, view.amount_paid + view.amount_pending),
        "remaining": with_symbol(view, view.amount_remaining),
        "over": with_symbol(view, view.amount_overpaid),
        "chain": view.chain_name,
        "confirmations": min(view.confirmations, view.confirmations_required),
        "required": view.confirmations_required,
    }
    return Wording(row.state, row.tone, row.title.format(**facts), row.text.format(**facts))


def with_symbol(view: CheckoutView, atoms: int) -> str:
    """Return atoms as the shopper reads them: `12.5 TUSD`."""
    return f"{format_units(atoms, view.decimals)} {view.token_symbol}"
