"""Event queues."""

from models.chat.errors import ChatError


class BadEventQueueId(ChatError):
    """The user has no such queue, or the queue cannot serve the event id. Facts: `queue_id`."""

    code = "BAD_EVENT_QUEUE_ID"
    # In lower case, because zulip-term 0.7.0 recognizes the error by these words.
    sentence = "Bad event queue id: {queue_id}"
    advice = "Register a new queue with `POST /register`, and load its snapshot."


class NarrowNotForEvents(ChatError):
    """Events cannot be filtered by this operator of a queue's narrow. Facts: `operator`."""

    sentence = "Operator {operator} not supported."
    advice = "Use `channel`, `topic`, `sender` or `is`, and filter the rest in the client."
