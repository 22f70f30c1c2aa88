"""Payloads of incoming webhooks."""

from models.chat.errors import ChatError


class MalformedPayload(ChatError):
    """A webhook's payload lacks a value, or has one of another type. Facts: `at`."""

    sentence = "Malformed payload: {at}"
    advice = "Send what the product documents. The address may be that of another integration."


class MissingEventHeader(ChatError):
    """The header that names the event is missing. Facts: `header`."""

    code = "MISSING_HTTP_EVENT_HEADER"
    sentence = "Missing the HTTP event header '{header}'"
    advice = "Let the product itself post to the address; a copied body does not name its event."


class SignatureMismatch(ChatError):
    """The address has a `webhook_secret`, and the body is not signed with it."""

    sentence = "Webhook signature verification failed."
    advice = "Enter the secret of the address in the product's settings of the webhook."
