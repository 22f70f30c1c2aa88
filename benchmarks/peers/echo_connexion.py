"""Stock connexion AsyncApp on the same document, with `async def` handlers (its fastest form)."""

from pathlib import Path
from typing import Any

import yaml
from connexion import AsyncApp
from connexion.options import SwaggerUIOptions
from connexion.resolver import RelativeResolver

from benchmarks.engine.operations import OWNER, TOKEN

DOCUMENT = Path(__file__).parents[1] / "engine" / "echo.yaml"


def authenticate(token: str) -> dict[str, str] | None:
    return {"sub": OWNER} if token == TOKEN else None


async def access_item(item_id: int, user: str) -> dict[str, Any]:
    return {"id": item_id, "name": f"item-{item_id}", "owner": user}


async def create_item(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    return {"id": 1, **body}, 201


async def update_flags(body: dict[str, Any]) -> dict[str, Any]:
    return {"messages": body["messages"], "op": body["op"], "flag": body["flag"]}


def build_app() -> AsyncApp:
    document = yaml.safe_load(DOCUMENT.read_text())
    document["components"]["securitySchemes"]["bearer"]["x-bearerInfoFunc"] = (
        f"{__name__}.authenticate"
    )
    stock = AsyncApp(__name__)
    stock.add_api(
        document,
        resolver=RelativeResolver(__name__),
        strict_validation=True,
        swagger_ui_options=SwaggerUIOptions(swagger_ui=False),
    )
    return stock


app = build_app()
