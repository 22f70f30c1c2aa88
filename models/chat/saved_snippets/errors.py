"""Saved snippets."""

from models.chat.errors import ChatError


class SavedSnippetDoesNotExist(ChatError):
    """The snippet is unknown or belongs to another user. The answer is the same for both."""

    sentence = "Saved snippet does not exist."
    advice = "Use an id that `GET /saved_snippets` returns."


class EmptySnippetTitle(ChatError):
    """The title is empty or consists of spaces."""

    sentence = "Title cannot be empty."
    advice = "Send a `title` of 1 to 60 characters."


class EmptySnippetContent(ChatError):
    """The content is empty or consists of spaces."""

    sentence = "Content cannot be empty."
    advice = "Send some `content`."


class NoNewSnippetData(ChatError):
    """The request contains neither a title nor a content."""

    sentence = "No new data is supplied"
    advice = "Send `title`, `content` or both."
