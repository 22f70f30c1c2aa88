"""What can go wrong in the payment service: one class per failure, with its code and its cure."""

from models.errors import DomainError


class InvalidAmount(DomainError):
    """A well-formed amount that is not positive, or whose atoms exceed uint256."""

    code = "invalid_amount"
    sentence = (
        "The amount must be positive and at most "
        "115792089237316195423570985008687907853269984665640564039457584007913129.639935."
    )
    advice = "Send a decimal string greater than zero, and not beyond what `message` says."


class MalformedAmount(InvalidAmount):
    """A text that is no amount at all (the document refuses it first for HTTP callers)."""

    sentence = (
        "Write the amount as digits with at most 6 decimals and no leading zeros, such as 1.5."
    )


class InvalidXpub(DomainError):
    """An extended key no deposit address can be made from. The key is never repeated."""

    code = "invalid_xpub"
    sentence = (
        "That is not an account-level extended public key; export the xpub of m/44'/60'/0' "
        "(it starts with xpub and has depth 3)."
    )


class PrivateKeyRefused(InvalidXpub):
    """Somebody pasted an extended private key."""

    sentence = (
        "That is an extended private key and was refused; give the extended public key (xpub) of "
        "m/44'/60'/0', and treat the private key as exposed."
    )


class InvalidMethod(DomainError):
    """A payment method that cannot be created; `problem` says why."""

    code = "invalid_payment_method"
    sentence = "{problem}"


class MainNetRefused(InvalidMethod):
    """A method on a network where tokens are worth money."""

    sentence = "Chain {chain_id} is a main network and is refused; use a test chain such as 31337."


class PaymentMethodExists(DomainError):
    """The project already has a method of that id."""

    code = "payment_method_exists"
    sentence = "The project already has a payment method named {id}; choose another id."


class InvalidName(DomainError):
    """A project without a usable name."""

    code = "invalid_name"
    sentence = "Give the project a name of 1 to 200 characters."


class ProjectDoesNotExist(DomainError):
    """No project has that id."""

    code = "project_not_found"
    sentence = "There is no such project; use the project_id that create-project printed."


class KeyDoesNotExist(DomainError):
    """No API key has that id."""

    code = "key_not_found"
    sentence = "There is no such key; list-keys shows the ids of a project's keys."


class PaymentMethodNotAllowed(DomainError):
    """The project has no method of that id."""

    code = "payment_method_not_allowed"
    sentence = (
        "The project has no such payment method; use an id that GET /v1/payment-methods returns."
    )
    advice = "Use an `id` that `GET /v1/payment-methods` returns."


class InvoiceDoesNotExist(DomainError):
    """Unknown id, or another project's: the two look the same."""

    code = "invoice_not_found"
    sentence = "There is no such invoice in this project; check the id."
    advice = "Check the id, and that the key is the project's which created the invoice."


class InvoiceNotCancelable(DomainError):
    """The invoice is not unpaid any more, or money was seen. Facts: `state`."""

    code = "invoice_not_cancelable"
    sentence = (
        "Only an unpaid invoice for which no payment was detected can be canceled; "
        "this one is {state}."
    )
    advice = (
        "Read the invoice: if it was paid, refund by your own means; if it expired, "
        "nothing is left to do."
    )


class InvoiceNotPayable(DomainError):
    """A checkout session was asked for an invoice that is not unpaid. Facts: `status`."""

    code = "invoice_not_payable"
    sentence = (
        "Only an unpaid invoice can be checked out; this one is {status}. "
        "For a new try, create an invoice with the next attempt_no."
    )
    advice = "Create an invoice with the next `attempt_no`, and a checkout session for it."


class OrderAttemptExists(DomainError):
    """The order already has an invoice for that attempt. Facts: `invoice_id`."""

    code = "order_attempt_exists"
    sentence = (
        "This attempt at the order already has an invoice; read it, or use the next attempt_no."
    )
    advice = "Use the invoice that `details` names, or create one with the next `attempt_no`."


class IdempotencyKeyReused(DomainError):
    """The key was used for a different request."""

    code = "idempotency_key_reused"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )
    advice = (
        "Send a fresh `Idempotency-Key` with each new request; the old one only to repeat its own."
    )


class IdempotencyInProgress(DomainError):
    """The first request with this key has not finished within the lock timeout."""

    code = "idempotency_in_progress"
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
    advice = "Send the same request with the same key again after `Retry-After`."


class ChainNotConfigured(DomainError):
    """No RPC endpoint is configured for the method's chain. Facts: `chain_id`."""

    code = "chain_not_configured"
    sentence = (
        "No RPC endpoint is configured for chain {chain_id}; "
        "choose an available method or ask the operator to configure one."
    )
    advice = "Offer a method that is `available`, or ask the operator to configure the chain."


class ChainUnavailable(DomainError):
    """No endpoint answered, or one answered for a wrong chain. Facts: `chain_id`."""

    code = "chain_unavailable"
    sentence = (
        "Chain {chain_id} cannot be reached safely right now; try again in a moment, "
        "and tell the operator if it lasts."
    )
    advice = "Try again after `Retry-After`; tell the operator if it lasts."
