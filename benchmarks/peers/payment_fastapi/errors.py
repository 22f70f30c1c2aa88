"""Refusals as classes, and the common envelope of all error responses."""

from collections.abc import Mapping

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, OperationalError
from starlette.exceptions import HTTPException

from benchmarks.peers.payment_fastapi.schemas import Error, ErrorDetail

HTTP_CODES = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}


class Refusal(Exception):
    """A request that is understood and rejected. Definitive refusals are stored for their key."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        definitive: bool = True,
        headers: Mapping[str, str] | None = None,
        details: list[ErrorDetail] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.definitive = definitive
        self.headers = dict(headers or {})
        self.details = details or []

    def envelope(self, request: Request) -> Error:
        return Error(
            code=self.code,
            message=self.message,
            request_id=request.state.request_id,
            details=self.details,
        )


def respond(request: Request, refusal: Refusal) -> Response:
    body = refusal.envelope(request).model_dump()
    return JSONResponse(body, status_code=refusal.status, headers=refusal.headers)


def on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return respond(request, error)


def on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [
        ErrorDetail(path="/" + "/".join(map(str, it["loc"])), message=it["msg"])
        for it in error.errors()
    ]
    message = "The request does not fit the document; see details."
    return respond(request, Refusal(422, "invalid_request", message, details=details))


def on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = HTTP_CODES.get(error.status_code, "invalid_request")
    return respond(request, Refusal(error.status_code, code, error.detail, headers=error.headers))


def on_database(request: Request, error: Exception) -> Response:
    message = "The database cannot be reached now; try again."
    return respond(
        request, Refusal(503, "database_unavailable", message, headers={"Retry-After": "1"})
    )


def on_unknown(request: Request, error: Exception) -> Response:
    return respond(request, Refusal(500, "internal_error", "Something went wrong here; try again."))


def lock_timed_out(error: DBAPIError) -> bool:
    """Return whether it is lock_not_available: another request with the key is still running."""
    return getattr(error.orig, "sqlstate", None) == "55P03"


def register(app: FastAPI) -> None:
    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(OperationalError, on_database)
    app.add_exception_handler(Exception, on_unknown)
