"""Signing in with a token that somebody else signed, and how an organization is set up for it."""

from models.chat.errors import ChatError


class JwtNotEnabled(ChatError):
    sentence = "JWT authentication is not enabled for this organization"


class JwtMissing(ChatError):
    sentence = "No JSON web token passed in request"


class BadJwt(ChatError):
    """Whatever is wrong with a token: the answer does not say what."""

    sentence = "Bad JSON web token"


class JwtWithoutEmail(ChatError):
    sentence = "No email specified in JSON web token claims"


class InvalidJwtConfiguration(ChatError):
    """The operator's mistake. Facts: `problem`, which never quotes the key."""

    sentence = "This cannot be set: {problem}."
