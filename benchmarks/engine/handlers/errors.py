"""The error table of the echo service."""

from connexion.exceptions import ProblemException

from specd import Response, encode
from specd.errors import InvalidRequest, MethodNotAllowed, Unauthenticated


def respond(error: Exception, request_id: str) -> Response:
    status = error.status if isinstance(error, ProblemException) else 500
    headers: tuple[tuple[str, str], ...] = ()
    message = "Something went wrong here."
    match error:
        case Unauthenticated():
            headers = (("WWW-Authenticate", "Bearer"),)
            message = "Send a valid token."
        case MethodNotAllowed(allow=allow):
            headers = (("Allow", ", ".join(allow)),)
            message = "This path does not know the method."
        case InvalidRequest(violations=violations):
            status = 422
            message = "; ".join(f"{it.path} {it.message}" for it in violations)
    code = type(error).__name__ if status < 500 else "InternalError"
    body = {"code": code, "message": message, "request_id": request_id}
    return Response(status, encode(body), headers)
