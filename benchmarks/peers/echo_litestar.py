"""Litestar with msgspec structs and a dependency for the bearer token, as in its documentation."""

from typing import Annotated, Literal

from litestar import Litestar, Request, get, post
from litestar.di import NamedDependency, Provide
from litestar.exceptions import NotAuthorizedException, ValidationException
from litestar.params import JSONBody, Parameter, URLEncodedBody
from msgspec import Meta, MsgspecError, Struct
from msgspec.json import Decoder

from benchmarks.engine.operations import OWNER, TOKEN

Id = Annotated[int, Meta(ge=1, le=2147483647)]


class Item(Struct):
    id: int
    name: str
    owner: str


class NewItem(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[a-z][a-z0-9-]*$")]
    quantity: Annotated[int, Meta(ge=1, le=1000)]
    price: Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$")]
    gift: bool


class CreatedItem(Struct):
    id: int
    name: str
    quantity: int
    price: str
    gift: bool


class NewFlags(Struct, forbid_unknown_fields=True):
    messages: str
    op: Literal["add", "remove"]
    flag: Annotated[str, Meta(min_length=1, max_length=30, pattern="^[a-z_]+$")]


class FlagChange(Struct):
    messages: list[int]
    op: str
    flag: str


Messages = Annotated[list[Id], Meta(min_length=1, max_length=1000)]
decode_messages = Decoder(Messages).decode


async def current_owner(request: Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token != TOKEN:
        raise NotAuthorizedException("Unknown token.")
    return OWNER


@get("/v1/items/{item_id:int}", dependencies={"owner": Provide(current_owner)})
async def access_item(
    item_id: Annotated[int, Parameter(ge=1, le=2147483647)], owner: NamedDependency[str]
) -> Item:
    return Item(id=item_id, name=f"item-{item_id}", owner=owner)


@post("/v1/items")
async def create_item(data: JSONBody[NewItem]) -> CreatedItem:
    return CreatedItem(
        id=1, name=data.name, quantity=data.quantity, price=data.price, gift=data.gift
    )


@post("/v1/flags", status_code=200)
async def update_flags(
    data: URLEncodedBody[NewFlags],
) -> FlagChange:
    try:
        messages = decode_messages(data.messages)
    except MsgspecError as error:
        raise ValidationException(f"messages: {error}") from error
    return FlagChange(messages=messages, op=data.op, flag=data.flag)


app = Litestar([access_item, create_item, update_flags], openapi_config=None)
