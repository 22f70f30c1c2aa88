"""The bearer key, looked up in the database for every request."""

from hashlib import sha256
from hmac import compare_digest
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from benchmarks.peers.payment_fastapi.errors import Refusal
from benchmarks.peers.payment_fastapi.tables import ApiKey, Project

bearer = HTTPBearer(auto_error=False)


def get_current_project(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Project:
    """Return the project of the active key that was sent. All failures give the same response.

    It uses a separate session that is closed immediately, so that no connection waits for the
    endpoint's thread.
    """
    token = credentials.credentials if credentials else ""
    prefix, _, rest = token.removeprefix("prk_").partition("_")
    key = None
    if prefix == "test" and len(rest) == 52:
        with Session(request.app.state.engine) as session:
            key = session.get(ApiKey, rest[:8])
    digest = sha256(token.encode()).hexdigest()
    if key is None or key.revoked_at or not compare_digest(key.secret_sha256, digest):
        message = "Send a valid API key as a bearer token."
        raise Refusal(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})
    return key.project


CurrentProject = Annotated[Project, Depends(get_current_project)]
