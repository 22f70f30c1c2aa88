"""Falcon (ASGI) with msgspec, as in the recipe of its documentation, and a hook for the token."""

from typing import Annotated, Any, Literal

import falcon
import falcon.asgi
import falcon.media
from msgspec import Meta, MsgspecError, Struct, convert
from msgspec.json import Decoder, decode, encode

from benchmarks.engine.operations import OWNER, TOKEN

Id = Annotated[int, Meta(ge=1, le=2147483647)]


class NewItem(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[a-z][a-z0-9-]*$")]
    quantity: Annotated[int, Meta(ge=1, le=1000)]
    price: Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$")]
    gift: bool


class NewFlags(Struct, forbid_unknown_fields=True):
    messages: str
    op: Literal["add", "remove"]
    flag: Annotated[str, Meta(min_length=1, max_length=30, pattern="^[a-z_]+$")]


decode_messages = Decoder(Annotated[list[Id], Meta(min_length=1, max_length=1000)]).decode


async def authenticate(
    req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, params: dict[str, Any]
) -> None:
    scheme, _, token = (req.auth or "").partition(" ")
    if scheme.lower() != "bearer" or token != TOKEN:
        raise falcon.HTTPUnauthorized(title="Unknown token.")
    req.context.owner = OWNER


class Item:
    @falcon.before(authenticate)
    async def on_get(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, item_id: int
    ) -> None:
        resp.media = {"id": item_id, "name": f"item-{item_id}", "owner": req.context.owner}


class Items:
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        item = convert(await req.get_media(), NewItem)
        resp.status = falcon.HTTP_201
        resp.media = {
            "id": 1,
            "name": item.name,
            "quantity": item.quantity,
            "price": item.price,
            "gift": item.gift,
        }


class Flags:
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        change = convert(await req.get_media(), NewFlags)
        messages = decode_messages(change.messages)
        resp.media = {"messages": messages, "op": change.op, "flag": change.flag}


async def refuse(
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    error: MsgspecError,
    params: dict[str, Any],
    **_: object,
) -> None:
    raise falcon.HTTPUnprocessableEntity(title="Invalid", description=str(error))


app = falcon.asgi.App()
json_handler = falcon.media.JSONHandler(dumps=encode, loads=decode)
app.req_options.media_handlers[falcon.MEDIA_JSON] = json_handler
app.resp_options.media_handlers[falcon.MEDIA_JSON] = json_handler
app.add_error_handler(MsgspecError, refuse)
app.add_route("/v1/items/{item_id:int(min=1, max=2147483647)}", Item())
app.add_route("/v1/items", Items())
app.add_route("/v1/flags", Flags())
