"""Calls to sign in to the chat service, and the expected errors."""

from typing import Any

from sqlalchemy import update

from models.chat.tables import Realm
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient

FAILED = bad("Your username or password is incorrect", "AUTHENTICATION_FAILED")
ACCOUNT_DEACTIVATED = bad("Account is deactivated", "USER_DEACTIVATED")
REALM_DEACTIVATED = bad("This organization has been deactivated", "REALM_DEACTIVATED")
NOWHERE = bad("Invalid subdomain", "NONEXISTENT_SUBDOMAIN")


def deactivate_realm(database: Database, realm_id: int) -> None:
    database.run(
        lambda s: s.execute(update(Realm).where(Realm.id == realm_id).values(is_deactivated=True))
    )


def refused(client: ChatClient, path: str, **form: str) -> dict[str, Any]:
    """Return the body of a 401 that does not request HTTP Basic."""
    response = client.request("POST", path, form)
    assert response.status_code == 401
    assert "WWW-Authenticate" not in response.headers
    body: dict[str, Any] = response.json()
    return body
