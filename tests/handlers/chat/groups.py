"""Helpers for user groups."""

from tests.support.chat.app import ChatClient


def ids_of(client: ChatClient) -> dict[str, int]:
    """Return the ids of all groups of the client's organization, by name."""
    return {group["name"]: group["id"] for group in client.get("/user_groups")["user_groups"]}
