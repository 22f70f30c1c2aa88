"""Outgoing webhooks."""

from models.chat.errors import ChatError


class InvalidPayloadUrl(ChatError):
    """Messages cannot be posted to this address. Facts: `problem`."""

    sentence = "payload_url {problem}"
    advice = "Send an https URL that resolves to public addresses."


class NotAnOutgoingWebhook(ChatError):
    """Only outgoing webhooks have an address."""

    sentence = "This bot has no address."
    advice = "Create a bot with `bot_type` 3."
