"""Polls and to-do lists."""

from models.chat.errors import ChatError


class MessageHasNoWidget(ChatError):
    """The message is neither a poll nor a to-do list."""

    sentence = "You cannot attach a submessage to this message."
    advice = "Send a message that begins with `/poll` or `/todo`, and use its id."


class UnknownWidgetChange(ChatError):
    """The submessage is for another kind of widget. Facts: `widget`, `type`."""

    sentence = "Unknown type for {widget} data: {type}"
    advice = "Read the `widget_type` in the first submessage of the message."


class QuestionOfAnother(ChatError):
    """Only the sender of a poll can change its question."""

    sentence = "You can't edit a question unless you are the author."
    advice = "Ask the sender of the message to change the question."


class TitleOfAnother(ChatError):
    """Only the sender of a to-do list can change its title."""

    sentence = "You can't edit the task list title unless you are the author."
    advice = "Ask the sender of the message to change the title."
