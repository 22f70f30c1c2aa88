"""Payloads of incoming webhooks."""

from models.chat.errors import ChatError


class MalformedPayload(ChatError):
    """A webhook's payload lacks a value, or has one of another type. Facts: `at`."""

    sentence = "Malformed payload: {at}"
    advice = (
        "Send the payload that the product documents. Check that the URL contains the right "
        "integration."
    )


class MissingEventHeader(ChatError):
    """The header that names the event is missing. Facts: `header`."""

    code = "MISSING_HTTP_EVENT_HEADER"
    sentence = "Missing the HTTP event header '{header}'"
    advice = (
        "Configure the URL in the product itself; a copied body does not contain the event type."
    )


class SignatureMismatch(ChatError):
    """The URL has a `webhook_secret`, and the body is not signed with it."""

    sentence = "Webhook signature verification failed."
    advice = "Enter the `webhook_secret` of the URL in the product's webhook settings."
