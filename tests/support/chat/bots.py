"""Bots that tests make."""

from typing import Any

from tests.support.chat.app import ChatClient

PATH = "/bots"


def make(client: ChatClient, name: str = "Yorick", **more: Any) -> dict[str, Any]:
    answer = client.post(PATH, full_name=name, short_name=name.lower(), **more)
    assert answer["result"] == "success", answer
    return answer
