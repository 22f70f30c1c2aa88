"""Mail that becomes messages of channels."""

from models.chat.errors import ChatError, RefusedCommand


class MailNotReceived(ChatError):
    """The operator has set up no domain for incoming mail."""

    sentence = "This server does not receive mail."
    advice = "Send messages with `POST /messages`, or ask the operator to set up incoming mail."


class MailSenderNotAllowed(ChatError):
    """The sender is neither the caller, nor a bot of the caller, nor the notification bot."""

    sentence = "Invalid sender ID"
    advice = "Send your own id or a bot's that you own, or leave out `sender_id`."


class NoSuchMailbox(RefusedCommand):
    """The address belongs to no channel, or to nobody any more."""

    sentence = "No mail is received at this address."


class UnreadableMail(RefusedCommand):
    """The mail has no text."""

    sentence = "The mail contains no text."


class AutomaticMail(RefusedCommand):
    """The mail answers another one by itself."""

    sentence = "Automatic replies are not received."
