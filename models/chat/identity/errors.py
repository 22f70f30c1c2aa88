"""The caller: credentials, sign-in, tokens, and the organization that is called."""

from models.chat.errors import ChatError, RefusedCommand


class NonexistentSubdomain(ChatError):
    """No organization has the request's host."""

    code = "NONEXISTENT_SUBDOMAIN"
    sentence = "Invalid subdomain"
    advice = "Check the URL. The `Host` header selects the organization."


class RealmMoving(ChatError):
    """The organization is moving to another installation. The request changed nothing, so a retry
    is safe.
    """

    code = "REALM_MOVING"
    sentence = "This organization is moving to another server; try again in a moment"
    advice = (
        "Wait the number of seconds in `Retry-After`, then send the same request again. Register a"
        " new event queue afterwards, because all ids are new."
    )


class Unauthorized(ChatError):
    """The credentials are missing, malformed, unknown or no longer valid."""

    code = "UNAUTHORIZED"
    advice = "Send the API email and the API key by HTTP Basic. `msg` states the problem."


class NotLoggedIn(Unauthorized):
    """The request has no `Authorization` header."""

    sentence = "Not logged in: API authentication or user session required"
    advice = "Send the API email and the API key by HTTP Basic."


class InvalidAuthorizationHeader(Unauthorized):
    """The `Authorization` header is not valid HTTP Basic."""

    sentence = "Invalid authorization header for basic auth"
    advice = "Send `Basic` and the Base64 form of `email:key`."


class MalformedApiKey(Unauthorized):
    """The password does not consist of 32 letters and digits."""

    sentence = "Malformed API key"
    advice = "Send the API key, not the account's password."


class InvalidApiKey(Unauthorized):
    """The key is unknown or belongs to another user. The response is the same for both."""

    sentence = "Invalid API key"
    advice = "Check the email and the key. `POST /fetch_api_key` returns a person's current key."


class AccountDeactivated(Unauthorized):
    """The account of these credentials is deactivated."""

    sentence = "Account is deactivated"
    advice = "Ask an administrator to reactivate the account."


class RealmDeactivated(Unauthorized):
    """The organization of these credentials is deactivated."""

    sentence = "This organization has been deactivated"
    advice = "Contact the operator of the server."


class WrongSubdomain(Unauthorized):
    """The key is valid, but the host belongs to another organization."""

    sentence = "Account is not associated with this subdomain"
    advice = "Send the request to the host of the account's own organization."


class NotForWebhookBots(Unauthorized):
    """An incoming webhook bot may only send messages, and post to its own address."""

    sentence = "This API is not available to incoming webhook bots."
    advice = "Use the API key of a generic bot or of a person."


class BasicAuthenticationRequired(ChatError):
    """The `Authorization` header uses a scheme other than Basic. The status is 400 because the
    scheme is checked before the credentials.
    """

    sentence = "This endpoint requires HTTP basic authentication."
    advice = "Send the API email and the API key by HTTP Basic."


class AuthenticationFailed(ChatError):
    """The name is unknown or the password is wrong. The response is the same for both."""

    code = "AUTHENTICATION_FAILED"
    sentence = "Your username or password is incorrect"
    advice = "Check the name and the password."


class SignInDeactivated(ChatError):
    """The account is deactivated."""

    code = "USER_DEACTIVATED"
    sentence = "Account is deactivated"
    advice = "Ask an administrator to reactivate the account."


class SignInRealmDeactivated(ChatError):
    """The organization is deactivated."""

    code = "REALM_DEACTIVATED"
    sentence = "This organization has been deactivated"
    advice = "Contact the operator of the server."


class NotInProduction(ChatError):
    """Only development servers offer this operation."""

    sentence = "Endpoint not available in production."
    advice = "Sign in with `POST /fetch_api_key`."


class NoSuchSession(ChatError):
    """The session is unknown, has ended or belongs to another user. The response is the same for
    all three.
    """

    sentence = "Invalid session ID"
    advice = "Use an id that `GET /users/me/sessions` returns."


class JwtNotEnabled(ChatError):
    """The organization has no key for signed tokens."""

    sentence = "JWT authentication is not enabled for this organization"
    advice = "Sign in another way, or ask the operator of the server."


class JwtMissing(ChatError):
    """The request contains no token."""

    sentence = "No JSON web token passed in request"
    advice = "Send the signed token as `token`."


class BadJwt(ChatError):
    """The token is invalid. The response does not contain the reason."""

    sentence = "Bad JSON web token"
    advice = "Request a new token with the agreed key, algorithm, audience and times."


class JwtWithoutEmail(ChatError):
    """The token contains no email."""

    sentence = "No email specified in JSON web token claims"
    advice = "Sign tokens with the claim `email`."


class InvalidJwtConfiguration(RefusedCommand):
    """The operator's configuration is invalid. Facts: `problem`, which never quotes the key."""

    sentence = "This cannot be set: {problem}."
