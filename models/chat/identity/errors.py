"""The caller: credentials, sign-in, tokens, and the organization that is called."""

from models.chat.errors import ChatError, RefusedCommand


class NonexistentSubdomain(ChatError):
    """No organization lives at the request's host."""

    code = "NONEXISTENT_SUBDOMAIN"
    sentence = "Invalid subdomain"
    advice = "Check the address: the organization is chosen by the `Host` header."


class Unauthorized(ChatError):
    """Credentials are missing, malformed, unknown or no longer good."""

    code = "UNAUTHORIZED"
    advice = (
        "Send the API email and the API key by HTTP Basic; `msg` says what is wrong with yours."
    )


class NotLoggedIn(Unauthorized):
    """The request has no `Authorization` header."""

    sentence = "Not logged in: API authentication or user session required"
    advice = "Send the API email and the API key by HTTP Basic."


class InvalidAuthorizationHeader(Unauthorized):
    """The `Authorization` header cannot be read as HTTP Basic."""

    sentence = "Invalid authorization header for basic auth"
    advice = "Send `Basic` and the Base64 form of `email:key`."


class MalformedApiKey(Unauthorized):
    """The password is not 32 letters and digits."""

    sentence = "Malformed API key"
    advice = "Send the API key, not the account's password."


class InvalidApiKey(Unauthorized):
    """The key is unknown, or somebody else's: the two look the same."""

    sentence = "Invalid API key"
    advice = "Check both; `POST /fetch_api_key` gives a person their present key."


class AccountDeactivated(Unauthorized):
    """The account of these credentials is deactivated."""

    sentence = "Account is deactivated"
    advice = "Ask an administrator to reactivate it."


class RealmDeactivated(Unauthorized):
    """The organization of these credentials is deactivated."""

    sentence = "This organization has been deactivated"
    advice = "Ask the operator of the server."


class WrongSubdomain(Unauthorized):
    """A good key, used at another organization's host."""

    sentence = "Account is not associated with this subdomain"
    advice = "Send the request to the host of the account's own organization."


class NotForWebhookBots(Unauthorized):
    """An incoming webhook bot may only send what its integration sends."""

    sentence = "This API is not available to incoming webhook bots."
    advice = "Use a generic bot's or a person's API key."


class BasicAuthenticationRequired(ChatError):
    """Another Authorization scheme. Not a 401: the reference refuses it before it asks who."""

    sentence = "This endpoint requires HTTP basic authentication."
    advice = "Send the API email and the API key by HTTP Basic."


class AuthenticationFailed(ChatError):
    """Signing in with an unknown name or a wrong password: the two look the same."""

    code = "AUTHENTICATION_FAILED"
    sentence = "Your username or password is incorrect"
    advice = "Check the name and the password."


class SignInDeactivated(ChatError):
    """Signing in to an account that is deactivated."""

    code = "USER_DEACTIVATED"
    sentence = "Account is deactivated"
    advice = "Ask an administrator to reactivate the account."


class SignInRealmDeactivated(ChatError):
    """Signing in to an organization that is deactivated."""

    code = "REALM_DEACTIVATED"
    sentence = "This organization has been deactivated"
    advice = "Ask the operator of the server."


class NotInProduction(ChatError):
    """The operation exists on development servers only."""

    sentence = "Endpoint not available in production."
    advice = "Sign in with `POST /fetch_api_key`."


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
