"""Who is asking: credentials, sign-in, and the organization that is asked."""

from models.chat.errors import ChatError


class NonexistentSubdomain(ChatError):
    """No organization lives at the request's host."""

    code = "NONEXISTENT_SUBDOMAIN"
    sentence = "Invalid subdomain"


class Unauthorized(ChatError):
    """Credentials are missing, malformed, unknown or no longer good."""

    code = "UNAUTHORIZED"


class NotLoggedIn(Unauthorized):
    sentence = "Not logged in: API authentication or user session required"


class InvalidAuthorizationHeader(Unauthorized):
    sentence = "Invalid authorization header for basic auth"


class MalformedApiKey(Unauthorized):
    sentence = "Malformed API key"


class InvalidApiKey(Unauthorized):
    """Unknown, or somebody else's: the two look the same."""

    sentence = "Invalid API key"


class AccountDeactivated(Unauthorized):
    sentence = "Account is deactivated"


class RealmDeactivated(Unauthorized):
    sentence = "This organization has been deactivated"


class WrongSubdomain(Unauthorized):
    """A good key, used at another organization's host."""

    sentence = "Account is not associated with this subdomain"


class NotForWebhookBots(Unauthorized):
    sentence = "This API is not available to incoming webhook bots."


class BasicAuthenticationRequired(ChatError):
    """Another Authorization scheme. Not a 401: the reference refuses it before it asks who."""

    sentence = "This endpoint requires HTTP basic authentication."


class AuthenticationFailed(ChatError):
    """Signing in with an unknown name or a wrong password: the two look the same."""

    code = "AUTHENTICATION_FAILED"
    sentence = "Your username or password is incorrect"


class SignInDeactivated(ChatError):
    code = "USER_DEACTIVATED"
    sentence = "Account is deactivated"


class SignInRealmDeactivated(ChatError):
    code = "REALM_DEACTIVATED"
    sentence = "This organization has been deactivated"


class NotInProduction(ChatError):
    sentence = "Endpoint not available in production."


class InvalidEmail(ChatError):
    sentence = "Enter a valid email address."
