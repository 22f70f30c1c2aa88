"""The catalog of scenarios: what happens to an invoice, and what the merchant must do.

A scenario is a list of steps, which `workers/scenario_runs.py` executes. Each step can be repeated
without another effect, because a worker may crash after the step and before recording it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Pay:
    """Pay until `percent` of the amount is at the deposit address. `late` expires the invoice
    first. `next_attempt` pays the next attempt at the order.
    """

    percent: int
    late: bool = False
    next_attempt: bool = False

    def __str__(self) -> str:
        to, when = " of the next attempt" * self.next_attempt, ", after the expiry" * self.late
        return f"pay until {self.percent}% of the amount{to} has arrived{when}"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Mine as many blocks as the payment method requires."""

    def __str__(self) -> str:
        return "mine the required confirmations"


@dataclass(frozen=True, slots=True)
class Await:
    """Wait until the invoice is in one of these states. `finally_` requires a final expiry."""

    states: tuple[tuple[str, str], ...]
    finally_: bool = False
    next_attempt: bool = False

    def __str__(self) -> str:
        status, exception = self.states[0]
        what = "the next attempt" if self.next_attempt else "the invoice"
        state = status if exception == NONE else f"{status} ({exception})"
        return f"wait until {what} is {state}" + (" with final expiry" if self.finally_ else "")


@dataclass(frozen=True, slots=True)
class Expire:
    """Expire the invoice now."""

    def __str__(self) -> str:
        return "expire the invoice"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the invoice."""

    def __str__(self) -> str:
        return "cancel the invoice"


@dataclass(frozen=True, slots=True)
class Reorganise:
    """Replace the blocks that contain its payments."""

    def __str__(self) -> str:
        return "reorganize the chain to remove the payments"


@dataclass(frozen=True, slots=True)
class SlowChain:
    """Delay the watcher's next calls to the chain."""

    calls: int
    lag_ms: int

    def __str__(self) -> str:
        return f"delay the chain's next {self.calls} responses by {self.lag_ms} ms"


@dataclass(frozen=True, slots=True)
class EndpointDown:
    """Fail the next messages about the invoice."""

    messages: int

    def __str__(self) -> str:
        what = "message" if self.messages == 1 else f"{self.messages} messages"
        return f"fail the next {what}"


@dataclass(frozen=True, slots=True)
class Redeliver:
    """Post an event of the invoice again."""

    type: str
    overtakes: bool = False
    """Post it as soon as it exists, before earlier events that wait to be sent."""

    def __str__(self) -> str:
        return f"post {self.type} {'before earlier events' if self.overtakes else 'again'}"


@dataclass(frozen=True, slots=True)
class Forge:
    """Post an event with a wrong signature. Endpoints must reject it."""

    type: str

    def __str__(self) -> str:
        return f"post {self.type} with an invalid signature, which must be rejected"


Step = (
    Pay
    | Confirm
    | Await
    | Expire
    | Cancel
    | Reorganise
    | SlowChain
    | EndpointDown
    | Redeliver
    | Forge
)


class Refund(StrEnum):
    """The part of the payments that belongs to the shopper in the end."""

    NONE = "none"
    EXCESS = "excess"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Scenario:
    """An entry of the catalog.

    `events` are the events about the invoice that a merchant must receive, in any order, except
    `MAY_COME`. `fulfilments` is how often the order must be fulfilled. With fewer than
    `least_confirmations`, the payment would be confirmed immediately.
    """

    name: str
    description: str
    steps: tuple[Step, ...]
    events: tuple[str, ...]
    fulfilments: int
    refund: Refund = Refund.NONE
    least_confirmations: int = 1

    @property
    def has_next_attempt(self) -> bool:
        """Whether a second invoice of the order is paid too."""
        return any(isinstance(step, Pay) and step.next_attempt for step in self.steps)

    def to_return(self, amount: int) -> int:
        """Return the total atoms of all attempts that belong to the shopper in the end."""
        paid = [step for step in self.steps if isinstance(step, Pay)]
        arrived = sum(
            max(
                (amount * step.percent // 100 for step in paid if step.next_attempt == is_next),
                default=0,
            )
            for is_next in (False, True)
        )
        return {Refund.NONE: 0, Refund.EXCESS: arrived - amount, Refund.ALL: arrived}[self.refund]


MAY_COME = frozenset({"invoice.processing"})
"""A payment that is confirmed when the watcher first sees it does not emit such an event."""

_ARRIVED = Await(((PROCESSING, NONE), (PAID, NONE), (PAID, OVER)))
_PAID = (Confirm(), Await(((PAID, NONE),)))
_OVERPAID = (Confirm(), Await(((PAID, OVER),)))
_EXPIRED_LATE = Await(((EXPIRED, LATE),), finally_=True)
_REORGED = (Reorganise(), Await(((UNPAID, REORGED),)))


def _events(*names: str) -> tuple[str, ...]:
    return tuple(f"invoice.{name}" for name in ("created", *names))


def _catalogue(scenarios: Iterable[Scenario]) -> Mapping[str, Scenario]:
    return {scenario.name: scenario for scenario in scenarios}


CATALOGUE = _catalogue(
    (
        Scenario(
            "exact",
            "The full amount arrives in one payment.",
            (Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "partial_then_rest",
            "40% of the amount arrives, then the rest.",
            (Pay(40), Await(((UNPAID, PARTIAL),)), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "partially_paid", "payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "over_in_one_step",
            "150% of the amount arrives in one payment.",
            (Pay(150), _ARRIVED, *_OVERPAID),
            _events("payment_received", "paid", "overpaid"),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "over_later",
            "The amount arrives and is confirmed. Later, another 20% arrives.",
            (Pay(100), _ARRIVED, *_PAID, Pay(120), *_OVERPAID),
            _events("payment_received", "paid", "payment_received", "overpaid"),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "late",
            "The amount arrives just after the invoice expires, before the expiry is final.",
            (Pay(100, late=True), _EXPIRED_LATE),
            _events("payment_received", "expired", "paid_late"),
            fulfilments=0,
            refund=Refund.ALL,
        ),
        Scenario(
            "twice",
            "The shopper pays twice, and invoice.paid is posted twice.",
            (Pay(100), Pay(200), _ARRIVED, *_OVERPAID, Redeliver("invoice.paid")),
            _events("payment_received", "payment_received", "paid", "overpaid"),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "expired_then_paid",
            "The expiry of the invoice becomes final, and then the amount arrives.",
            (Expire(), Await(((EXPIRED, NONE),), finally_=True), Pay(100), _EXPIRED_LATE),
            _events("expired", "payment_received", "paid_late"),
            fulfilments=0,
            refund=Refund.ALL,
        ),
        Scenario(
            "canceled_then_paid",
            "The merchant cancels the invoice, and then the amount arrives.",
            (Cancel(), Pay(100), Await(((CANCELED, LATE),))),
            _events("canceled", "payment_received", "paid_late"),
            fulfilments=0,
            refund=Refund.ALL,
        ),
        Scenario(
            "reorganised_before_paid",
            "A chain reorganization removes the payment before it is confirmed.",
            (Pay(100), Await(((PROCESSING, NONE),)), *_REORGED),
            _events("payment_received", "payment_reorged", "reorged"),
            fulfilments=0,
            least_confirmations=2,
        ),
        Scenario(
            "reorganised_after_paid",
            "The invoice is paid, and then a deep chain reorganization removes the payment.",
            (Pay(100), _ARRIVED, *_PAID, *_REORGED),
            _events("payment_received", "paid", "payment_reorged", "reorged"),
            fulfilments=1,
        ),
        Scenario(
            "reorganised_twice",
            "Two chain reorganizations remove the payment, and the shopper pays again after each.",
            (
                *(Pay(100), _ARRIVED, *_PAID, *_REORGED),
                *(Pay(100), _ARRIVED, *_PAID, *_REORGED),
                *(Pay(100), _ARRIVED, *_PAID),
            ),
            _events(
                *("payment_received", "paid", "payment_reorged", "reorged"),
                *("payment_received", "paid", "payment_reorged", "reorged"),
                *("payment_received", "paid"),
            ),
            fulfilments=1,
        ),
        Scenario(
            "slow_chain",
            "The chain's node responds slowly while the amount arrives.",
            (SlowChain(calls=6, lag_ms=200), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "endpoint_down",
            "The webhook endpoint fails briefly and receives the messages a few seconds later.",
            (EndpointDown(messages=1), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "abandoned",
            "The shopper does not pay, and the invoice expires.",
            (Expire(), Await(((EXPIRED, NONE),), finally_=True)),
            _events("expired"),
            fulfilments=0,
        ),
        Scenario(
            "partial_then_expired",
            "40% of the amount arrives, and then the invoice expires.",
            (
                *(Pay(40), Await(((UNPAID, PARTIAL),))),
                *(Expire(), Await(((EXPIRED, PARTIAL),), finally_=True)),
            ),
            _events("payment_received", "partially_paid", "expired"),
            fulfilments=0,
            refund=Refund.ALL,
        ),
        Scenario(
            "two_attempts",
            "The shopper pays two attempts at one order.",
            (
                *(Pay(100), _ARRIVED, *_PAID),
                *(Pay(100, next_attempt=True), Confirm()),
                Await(((PAID, NONE),), next_attempt=True),
            ),
            _events(
                *("payment_received", "paid"),
                *("created", "payment_received", "paid"),
            ),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "mined_again_late",
            "The invoice is paid, a reorganization removes the payment, and it is mined late.",
            (
                *(Pay(100), _ARRIVED, *_PAID, *_REORGED),
                *(Pay(100, late=True), _EXPIRED_LATE),
            ),
            _events(
                *("payment_received", "paid", "payment_reorged", "reorged"),
                *("payment_received", "expired", "paid_late"),
            ),
            fulfilments=1,
        ),
        Scenario(
            "out_of_order",
            "The webhook endpoint fails briefly, and invoice.paid arrives before earlier events.",
            (
                *(EndpointDown(messages=1), Pay(100), _ARRIVED, *_PAID),
                *(Redeliver("invoice.paid", overtakes=True), Redeliver("invoice.created")),
            ),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "forged",
            "An attacker posts invoice.paid with an invalid signature.",
            (Forge("invoice.paid"),),
            _events(),
            fulfilments=0,
        ),
    )
)
