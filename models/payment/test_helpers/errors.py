"""The errors of the test helpers."""

from models.payment.errors import InvalidWebhookUrl
from specd import Refusal


class ChainDoesNotExist(Refusal):
    """No payment method of the project is on this chain. The response is the same for a chain that
    no project uses.
    """

    code = "chain_not_found"
    sentence = "This project has no payment method on that chain; check the chain id."
    advice = "Use a `chain_id` that `GET /v1/payment-methods` returns."


class ChainIsNoTestBench(Refusal):
    """The node of the chain does not support this: it signs for no account, rejects the call, or
    lacks the token. Facts: `chain_id`, `problem`.
    """

    code = "chain_cannot_do_that"
    sentence = "Chain {chain_id} {problem}."
    advice = (
        "Follow `message`. Use a development chain whose node has unlocked accounts and mines on "
        "request, such as anvil or `specd chain`."
    )


class NothingIsDue(Refusal):
    """The request is to pay the rest of an invoice, but the full amount has arrived."""

    code = "nothing_due"
    sentence = "The full amount has already arrived; send an explicit amount to overpay."
    advice = "Send an amount, such as `1.5`, instead of `rest`."


class InvoiceNotExpirable(Refusal):
    """The invoice is not unpaid, so it cannot expire now. Facts: `status`."""

    code = "invoice_not_expirable"
    sentence = "Only an unpaid invoice can be expired; this one is {status}."
    advice = "Create another invoice, and expire it before it is paid."


class ScenarioDoesNotExist(Refusal):
    """The catalog has no scenario with this name."""

    code = "scenario_not_found"
    sentence = "There is no such scenario; GET /v1/test-helpers/scenarios lists them."
    advice = "Use a `name` that `GET /v1/test-helpers/scenarios` returns."


class InvalidShopUrl(InvalidWebhookUrl):
    """Shops are not called at that address, for the same reasons as webhooks. Facts: `problem`."""


class TooFewConfirmations(Refusal):
    """The scenario needs a payment that waits for confirmations. Facts: `least`."""

    code = "too_few_confirmations"
    sentence = "This scenario needs a payment method with at least {least} confirmations."
    advice = (
        "Use a `payment_method_id` with enough `confirmations_required`, or ask the operator to "
        "create one."
    )


class RunDoesNotExist(Refusal):
    """The run is unknown, belongs to another project, or has expired. The response is the same in
    all cases.
    """

    code = "run_not_found"
    sentence = "There is no such run in this project; check the id."
    advice = "Use the `id` that `POST /v1/test-helpers/scenarios/{name}/runs` returned."


class NoNextAttempt(Refusal):
    """The scenario needs the next attempt at the order, but the invoice has the maximum
    `attempt_no`. Facts: `last`.
    """

    code = "no_next_attempt"
    sentence = (
        "This scenario needs the next attempt at the order, but {last} is the maximum "
        "attempt_no; run it on another order."
    )
    advice = "Run the scenario on an invoice with a lower `attempt_no`, or on another order."


class TooManyRuns(Refusal):
    """The project has reached its limit of unfinished runs. Facts: `most`."""

    code = "too_many_runs"
    sentence = "A project has at most {most} unfinished runs; wait until some have finished."
    advice = "Poll the runs that you have started until their `state` is `passed` or `failed`."
