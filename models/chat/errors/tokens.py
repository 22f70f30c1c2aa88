"""Signing in with a token that somebody else signed, and how an organization is set up for it."""

from models.chat.errors import ChatError
from models.chat.errors.organizations import RefusedCommand


class JwtNotEnabled(ChatError):
    """The organization has no key that tokens are signed with."""

    sentence = "JWT authentication is not enabled for this organization"
    advice = "Sign in another way, or ask the operator of the server."


class JwtMissing(ChatError):
    """No token was sent."""

    sentence = "No JSON web token passed in request"
    advice = "Send the signed token as `token`."


class BadJwt(ChatError):
    """Whatever is wrong with a token: the answer does not say what."""

    sentence = "Bad JSON web token"
    advice = "Have a new token signed, with the agreed key, algorithm, audience and times."


class JwtWithoutEmail(ChatError):
    """The token names nobody."""

    sentence = "No email specified in JSON web token claims"
    advice = "Sign tokens with the claim `email`."


class InvalidJwtConfiguration(RefusedCommand):
    """The operator's mistake. Facts: `problem`, which never quotes the key."""

    sentence = "This cannot be set: {problem}."
