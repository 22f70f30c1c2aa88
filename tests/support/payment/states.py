"""What an invoice can be, and where a settlement may lead: the state machine as tests check it."""

from collections.abc import Mapping

from models.payment.lifecycle import (
    CANCELED,
    EXPIRED,
    LATE,
    NONE,
    OVER,
    PAID,
    PARTIAL,
    PROCESSING,
    REORGED,
    UNPAID,
)

STATES = frozenset(
    {
        *((UNPAID, exception) for exception in (NONE, PARTIAL, LATE, REORGED)),
        *((PROCESSING, exception) for exception in (NONE, REORGED)),
        *((PAID, exception) for exception in (NONE, OVER)),
        *((EXPIRED, exception) for exception in (NONE, PARTIAL, LATE, REORGED)),
        *((CANCELED, exception) for exception in (NONE, LATE)),
    }
)
"""Every pair of status and exception that an invoice can have. `unpaid`, `late`: the chain dates a
payment after the expiry while the service's clock has not come so far."""

TRANSITIONS: Mapping[str, frozenset[str]] = {
    UNPAID: frozenset({UNPAID, PROCESSING, PAID, EXPIRED, CANCELED}),
    PROCESSING: frozenset({PROCESSING, PAID, UNPAID, EXPIRED}),
    PAID: frozenset({PAID, PROCESSING, UNPAID, EXPIRED}),
    EXPIRED: frozenset({EXPIRED, UNPAID, PROCESSING, PAID}),
    CANCELED: frozenset({CANCELED}),
}
"""Where one settlement may lead. One step may pass through several rows of the table in
`models/payment/lifecycle.py` (a watcher that was down sees the confirmed payment at once). Out of
`expired` only a reorganisation leads: it can move a payment into a block before `expires_at`, or
take back the chain's time.
"""
