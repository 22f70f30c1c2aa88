"""Groups as tests name them."""

from tests.support.chat.app import ChatClient


def ids_of(client: ChatClient) -> dict[str, int]:
    """Name -> id of every group the client's organization has."""
    return {group["name"]: group["id"] for group in client.get("/user_groups")["user_groups"]}
