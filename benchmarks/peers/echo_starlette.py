"""Bare Starlette, the floor: it decodes and responds, without authentication and validation."""

from json import loads

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.engine.operations import OWNER


async def access_item(request: Request) -> JSONResponse:
    item_id = request.path_params["item_id"]
    return JSONResponse({"id": item_id, "name": f"item-{item_id}", "owner": OWNER})


async def create_item(request: Request) -> JSONResponse:
    return JSONResponse({"id": 1, **await request.json()}, status_code=201)


async def update_flags(request: Request) -> JSONResponse:
    form = await request.form()
    messages = loads(str(form["messages"]))
    return JSONResponse({"messages": messages, "op": form["op"], "flag": form["flag"]})


app = Starlette(
    routes=[
        Route("/v1/items/{item_id:int}", access_item),
        Route("/v1/items", create_item, methods=["POST"]),
        Route("/v1/flags", update_flags, methods=["POST"]),
    ]
)
