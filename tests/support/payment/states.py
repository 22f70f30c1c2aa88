"""The states of an invoice and the transitions of a settlement, as checked by tests."""

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
"""Every pair of status and exception that an invoice can have. `unpaid` with `late`: the chain
dates a payment after the expiry, which the service's clock has not reached yet.
"""

TRANSITIONS: Mapping[str, frozenset[str]] = {
    UNPAID: frozenset({UNPAID, PROCESSING, PAID, EXPIRED, CANCELED}),
    PROCESSING: frozenset({PROCESSING, PAID, UNPAID, EXPIRED}),
    PAID: frozenset({PAID, PROCESSING, UNPAID, EXPIRED}),
    EXPIRED: frozenset({EXPIRED, UNPAID, PROCESSING, PAID}),
    CANCELED: frozenset({CANCELED}),
}
"""The transitions of one settlement. One step may pass through several rows of the table in
`models/payment/lifecycle.py`: after downtime, a watcher sees the confirmed payment immediately.
Only a reorganization leaves `expired`: it can move a payment into a block before `expires_at`, or
move the chain's time back.
"""
