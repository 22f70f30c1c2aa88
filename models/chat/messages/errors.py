"""Messages: reading and finding them."""

from models.chat.errors import ChatError


class InvalidMessage(ChatError):
    """The message is unknown, or the caller may not read it. The response is the same for both."""

    sentence = "Invalid message(s)"
    advice = "Use ids that `GET /messages` returns to you."


class ReadReceiptsDisabled(ChatError):
    """The organization has disabled read receipts."""

    sentence = "Read receipts are disabled in this organization."
    advice = "An administrator can change the setting `enable_read_receipts` with `PATCH /realm`."


class NothingToChange(ChatError):
    """The request contains no content, topic or channel, or the values do not differ from the
    message.
    """

    sentence = "Nothing to change"
    advice = "Send at least one new value."


class BadNarrow(ChatError):
    """The narrow contains an unsupported operator or operand. Facts: `desc`."""

    code = "BAD_NARROW"
    sentence = "Invalid narrow operator: {desc}"
    advice = "Correct or remove the term in `desc`."
