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
        to = " of the next attempt" if self.next_attempt else ""
        return f"pay until {self.percent} %{to} have arrived{', too late' if self.late else ''}"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Mine as many blocks as the payment method requires."""

    def __str__(self) -> str:
        return "mine the blocks that confirm it"


@dataclass(frozen=True, slots=True)
class Await:
    """Wait until the invoice is in one of these states. `finally_` requires a final expiry."""

    states: tuple[tuple[str, str], ...]
    finally_: bool = False
    next_attempt: bool = False

    def __str__(self) -> str:
        status, exception = self.states[0]
        what = "the next attempt" if self.next_attempt else "it"
        told = f"wait until {what} is {status}" + ("" if exception == NONE else f", {exception}")
        return told + (", for good" if self.finally_ else "")


@dataclass(frozen=True, slots=True)
class Expire:
    """Expire the invoice now."""

    def __str__(self) -> str:
        return "end its time"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the invoice."""

    def __str__(self) -> str:
        return "cancel it"


@dataclass(frozen=True, slots=True)
class Reorganise:
    """Replace the blocks that contain its payments."""

    def __str__(self) -> str:
        return "reorganise the chain, so that its payments are gone"


@dataclass(frozen=True, slots=True)
class SlowChain:
    """Delay the watcher's next calls to the chain."""

    calls: int
    lag_ms: int

    def __str__(self) -> str:
        return f"let the chain answer its next {self.calls} calls {self.lag_ms} ms late"


@dataclass(frozen=True, slots=True)
class EndpointDown:
    """Fail the next messages about the invoice."""

    messages: int

    def __str__(self) -> str:
        what = "message" if self.messages == 1 else f"{self.messages} messages"
        return f"let the next {what} reach nobody"


@dataclass(frozen=True, slots=True)
class Redeliver:
    """Post an event of the invoice again."""

    type: str
    overtakes: bool = False
    """Post it as soon as it exists, before earlier events that wait to be sent."""

    def __str__(self) -> str:
        return f"post {self.type} {'before the others' if self.overtakes else 'once more'}"


@dataclass(frozen=True, slots=True)
class Forge:
    """Post an event with a wrong signature. Endpoints must reject it."""

    type: str

    def __str__(self) -> str:
        return f"post {self.type} with a wrong signature, which must be refused"


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
            "The whole amount arrives in one payment.",
            (Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "partial_then_rest",
            "Two fifths arrive, then the rest.",
            (Pay(40), Await(((UNPAID, PARTIAL),)), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "partially_paid", "payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "over_in_one_step",
            "Half as much again arrives in one payment.",
            (Pay(150), _ARRIVED, *_OVERPAID),
            _events("payment_received", "paid", "overpaid"),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "over_later",
            "The amount arrives and is confirmed, and then more.",
            (Pay(100), _ARRIVED, *_PAID, Pay(120), *_OVERPAID),
            _events("payment_received", "paid", "payment_received", "overpaid"),
            fulfilments=1,
            refund=Refund.EXCESS,
        ),
        Scenario(
            "late",
            "The amount arrives just after the time is over, before the expiry is final.",
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
            "The invoice expires for good, and then the amount arrives.",
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
            "A reorganisation takes the payment back before it is confirmed.",
            (Pay(100), Await(((PROCESSING, NONE),)), *_REORGED),
            _events("payment_received", "payment_reorged", "reorged"),
            fulfilments=0,
            least_confirmations=2,
        ),
        Scenario(
            "reorganised_after_paid",
            "The invoice is paid, and a deep reorganisation takes the payment back.",
            (Pay(100), _ARRIVED, *_PAID, *_REORGED),
            _events("payment_received", "paid", "payment_reorged", "reorged"),
            fulfilments=1,
        ),
        Scenario(
            "reorganised_twice",
            "Twice a reorganisation takes the payment back, and twice the shopper pays again.",
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
            "The chain answers late while the amount arrives.",
            (SlowChain(calls=6, lag_ms=200), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "endpoint_down",
            "The endpoint is down for a moment, and gets the messages a few seconds later.",
            (EndpointDown(messages=1), Pay(100), _ARRIVED, *_PAID),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "abandoned",
            "Nobody pays, and the invoice expires for good.",
            (Expire(), Await(((EXPIRED, NONE),), finally_=True)),
            _events("expired"),
            fulfilments=0,
        ),
        Scenario(
            "partial_then_expired",
            "Two fifths arrive, and the invoice expires for good.",
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
            "The invoice is paid, a reorganisation takes the payment back, and it comes late.",
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
            "The endpoint is down for a moment, and invoice.paid arrives before earlier events.",
            (
                *(EndpointDown(messages=1), Pay(100), _ARRIVED, *_PAID),
                *(Redeliver("invoice.paid", overtakes=True), Redeliver("invoice.created")),
            ),
            _events("payment_received", "paid"),
            fulfilments=1,
        ),
        Scenario(
            "forged",
            "A stranger posts invoice.paid with a wrong signature.",
            (Forge("invoice.paid"),),
            _events(),
            fulfilments=0,
        ),
    )
)
