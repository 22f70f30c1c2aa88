"""The scenarios that detect each mistake of a shop."""

from models.payment.test_helpers.scenarios import CATALOGUE
from tests.live.small_shop import (
    DOES_NOTHING,
    FULFILS_ON_PROCESSING,
    FULFILS_TWICE,
    IGNORES_OVER,
    KEEPS_LATE,
    TRUSTS_ANYBODY,
)

FAILING = {
    FULFILS_ON_PROCESSING: {"reorganised_before_paid"},
    IGNORES_OVER: {"over_in_one_step", "over_later", "twice", "two_attempts"},
    FULFILS_TWICE: {"twice", "reorganised_twice", "two_attempts"},
    TRUSTS_ANYBODY: {"forged"},
    KEEPS_LATE: {"late", "expired_then_paid", "canceled_then_paid", "partial_then_expired"},
    DOES_NOTHING: set(CATALOGUE) - {"abandoned", "reorganised_before_paid"},
}
"""The scenarios that a shop fails because of each mistake alone."""
