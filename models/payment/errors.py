"""The errors of the payment service: one class per failure, with its code and advice."""

from specd import Refusal


class InvalidAmount(Refusal):
    """The amount is well-formed, but it is not positive or exceeds uint256 in atomic units."""

    code = "invalid_amount"
    sentence = (
        "The amount must be positive and at most "
        "115792089237316195423570985008687907853269984665640564039457584007913129.639935."
    )
    advice = "Send a decimal string greater than zero and at most the value in `message`."


class MalformedAmount(InvalidAmount):
    """The text is not an amount. In HTTP requests, the OpenAPI schema rejects such a text first."""

    sentence = (
        "Write the amount as digits with at most 6 decimals and no leading zeros, such as 1.5."
    )


class InvalidXpub(Refusal):
    """No deposit address can be derived from the extended key. Responses never repeat the key."""

    code = "invalid_xpub"
    sentence = (
        "That is not an account-level extended public key; export the xpub of m/44'/60'/0' "
        "(it starts with xpub and has depth 3)."
    )


class PrivateKeyRefused(InvalidXpub):
    """The key is an extended private key."""

    sentence = (
        "That is an extended private key; use the extended public key (xpub) of m/44'/60'/0', "
        "and treat the private key as compromised."
    )


class InvalidMethod(Refusal):
    """The payment method cannot be created. Facts: `problem`."""

    code = "invalid_payment_method"
    sentence = "{problem}"


class MainNetRefused(InvalidMethod):
    """The method's network is a main network, whose tokens are worth money."""

    sentence = (
        "Chain {chain_id} is a main network, which is not supported; use a test chain such as "
        "31337."
    )


class PaymentMethodExists(Refusal):
    """The project already has a payment method with this id."""

    code = "payment_method_exists"
    sentence = "The project already has a payment method named {id}; choose another id."


class ChainIsUnknown(Refusal):
    """No watcher has read this chain. Facts: `chain_id`."""

    code = "chain_unknown"
    sentence = "No blocks of chain {chain_id} are stored; there is nothing to forget."


class InvalidName(Refusal):
    """The project's name is empty or too long."""

    code = "invalid_name"
    sentence = "Use a project name of 1 to 200 characters."


class InvalidTolerance(Refusal):
    """The tolerance is not a percentage, or it is too large."""

    code = "invalid_tolerance"
    sentence = "Use a tolerance of at most 10%, such as 0.1%, or none."


class ProjectDoesNotExist(Refusal):
    """No project has this id."""

    code = "project_not_found"
    sentence = "There is no such project; use the project_id that create-project printed."


class KeyDoesNotExist(Refusal):
    """No API key has this id."""

    code = "key_not_found"
    sentence = "There is no such key; list-keys shows the ids of a project's keys."


class PaymentMethodNotAllowed(Refusal):
    """The project has no payment method with this id, or the operator has disabled the method."""

    code = "payment_method_not_allowed"
    sentence = (
        "The project has no such payment method; use an available method from GET "
        "/v1/payment-methods."
    )
    advice = "Use an `id` that `GET /v1/payment-methods` returns, of a method that is `available`."


class PaymentMethodDoesNotExist(Refusal):
    """The operator named a payment method that the project does not have."""

    code = "payment_method_not_found"
    sentence = "The project has no payment method named {id}; list-methods shows those it has."


class InvoiceDoesNotExist(Refusal):
    """The invoice is unknown or belongs to another project. The response is the same for both."""

    code = "invoice_not_found"
    sentence = "There is no such invoice in this project; check the id."
    advice = "Check the id, and check that the key belongs to the project that created the invoice."


class EventDoesNotExist(Refusal):
    """The event is unknown, belongs to another project, or has expired. The response is the same in
    all cases.
    """

    code = "event_not_found"
    sentence = "There is no such event in this project; check the id."
    advice = (
        "Check the id, and check that the key belongs to the project of the event. Read the "
        "invoice instead if the event is old."
    )


class EventsGone(Refusal):
    """Events after the given one have expired, so the caller has missed some."""

    code = "events_gone"
    sentence = (
        "Events after this one have expired; read the events without after, and then the "
        "changed invoices."
    )
    advice = (
        "Read the events without `after`, and keep the last `next_cursor`. Then read `GET "
        "/v1/invoices` with `updated_from` set to a minute before the last event that you have "
        "handled, and use the current state of the invoices."
    )


class WebhookEndpointDoesNotExist(Refusal):
    """The webhook endpoint is unknown, was removed, or belongs to another project. The response is
    the same in all cases.
    """

    code = "webhook_endpoint_not_found"
    sentence = "There is no such webhook endpoint in this project; check the id."
    advice = "Use an `id` that `GET /v1/webhook-endpoints` returns."


class InvalidWebhookUrl(Refusal):
    """Webhooks cannot be posted to that address. Facts: `problem`."""

    code = "invalid_webhook_url"
    sentence = (
        "The URL {problem}; use a public https URL on port 443 or above 1023, such as "
        "https://shop.example/webhooks."
    )
    advice = (
        "Use an `https` URL without credentials and fragment, on port 443 or above 1023, whose "
        "host name resolves to public addresses only. Write an international name in ASCII "
        "(`xn--`)."
    )


class TooManyWebhookEndpoints(Refusal):
    """The project has reached its limit of webhook endpoints. Facts: `quota`."""

    code = "too_many_webhook_endpoints"
    sentence = "A project has at most {quota} webhook endpoints; remove one that you do not need."
    advice = (
        "Remove an endpoint that you do not need, or subscribe one endpoint to more event types."
    )


class WebhookEndpointNotEnabled(Refusal):
    """The webhook endpoint is disabled, so nothing is sent to it."""

    code = "webhook_endpoint_disabled"
    sentence = "This webhook endpoint is disabled; enable it first."
    advice = "Set `status` to `enabled` with `PATCH /v1/webhook-endpoints/{id}`."


class WebhookTestInProgress(Refusal):
    """The last test is still waiting for a response, or too many tests are running."""

    code = "webhook_test_in_progress"
    sentence = "Another test is still waiting for a response; try again in a moment."
    advice = "Wait the number of seconds in `Retry-After`, then test again."


class InsufficientScope(Refusal):
    """The key has the scope `read`, but the operation changes data or acts on a chain."""

    code = "insufficient_scope"
    sentence = "This key is read-only; use a key with write access."
    advice = (
        "Call the operation from your backend, with a key that has write access. The operator "
        "creates keys with `specd payment create-key`."
    )


class InvalidMetadata(Refusal):
    """The metadata has a key or a value that breaks a rule. Facts: `problem`."""

    code = "invalid_metadata"
    sentence = (
        "The metadata {problem}; send at most 50 keys of 1 to 40 characters, with values of at "
        "most 500 characters and without NUL."
    )
    advice = (
        "Send at most 50 keys of 1 to 40 characters. Store longer texts in your own database, and "
        "their id in the metadata."
    )


class TooManyInvoices(Refusal):
    """More invoices match the filters than an export may contain. Facts: `most`."""

    code = "too_many_invoices"
    sentence = (
        "More than {most} invoices match these filters; export them in parts, using "
        "created_from and created_to."
    )
    advice = (
        "Export a shorter period, or read `GET /v1/invoices` page by page. The operator can "
        "export all invoices with `specd payment export`."
    )


class TooManyPayments(Refusal):
    """More payments match the filters than an export may contain. Facts: `most`."""

    code = "too_many_payments"
    sentence = (
        "More than {most} payments match these filters; export them in parts, using "
        "received_from and received_to."
    )
    advice = (
        "Export a shorter period. The operator can export all payments with `specd payment "
        "export --payments`."
    )


class ExportTooLarge(Exception):
    """An export exceeds its maximum number of bytes."""


class InvalidCursor(Refusal):
    """The cursor is truncated, or belongs to another list, filter, order or project."""

    code = "invalid_cursor"
    sentence = (
        "The cursor does not belong to this list with these filters in this order; send "
        "next_cursor unchanged, or start without one."
    )
    advice = "Send the `next_cursor` of the last page with the filters and the order of that page."


class InvoiceNotCancelable(Refusal):
    """The invoice is no longer unpaid, or a payment was detected. Facts: `state`."""

    code = "invoice_not_cancelable"
    sentence = (
        "Only an unpaid invoice for which no payment was detected can be canceled; "
        "this one is {state}."
    )
    advice = (
        "Read the invoice. If it is paid, refund the payment yourself. If it has expired, no "
        "action is needed."
    )


class InvoiceNotResolvable(Refusal):
    """The invoice can still be paid, or no money has arrived for it. Facts: `state`."""

    code = "invoice_not_resolvable"
    sentence = (
        "Only an invoice that is paid, canceled or finally expired, and that has received a "
        "payment, can be resolved; this one is {state}."
    )
    advice = (
        "Wait for the event `invoice.expired` or `invoice.paid`. If no payment has arrived, no "
        "action is needed."
    )


class InvoiceNotPayable(Refusal):
    """The invoice of the checkout session is not unpaid. Facts: `status`."""

    code = "invoice_not_payable"
    sentence = (
        "A checkout session needs an unpaid invoice; this one is {status}. To try again, create"
        " an invoice with the next attempt_no."
    )
    advice = (
        "Create an invoice with the next `attempt_no`, and a checkout session for that invoice."
    )


class OrderAttemptExists(Refusal):
    """The order already has an invoice for that attempt. Facts: `invoice_id`."""

    code = "order_attempt_exists"
    sentence = (
        "This attempt at the order already has an invoice; read it, or use the next attempt_no."
    )
    advice = "Use the invoice in `details`, or create one with the next `attempt_no`."


class ChainNotConfigured(Refusal):
    """No RPC endpoint is configured for the method's chain. Facts: `chain_id`."""

    code = "chain_not_configured"
    sentence = (
        "No RPC endpoint is configured for chain {chain_id}; "
        "choose an available method or ask the operator to configure one."
    )
    advice = "Offer a method that is `available`, or ask the operator to configure the chain."


class ChainUnavailable(Refusal):
    """No RPC endpoint responded, or an endpoint serves another chain. Facts: `chain_id`."""

    code = "chain_unavailable"
    sentence = (
        "Chain {chain_id} is currently unavailable; try again in a moment, and contact the "
        "operator if the error persists."
    )
    advice = (
        "Wait the number of seconds in `Retry-After`, then try again. If the error persists, "
        "contact the operator."
    )
