"""BlackSheep with pydantic models and its authentication, written as in its documentation."""

from typing import Annotated, Any, Literal

import orjson
from blacksheep import Application, FromForm, FromJSON, Request, Response, Router, json
from blacksheep.exceptions import BadRequest
from blacksheep.server.authorization import allow_anonymous, auth
from blacksheep.settings.json import json_settings
from guardpost import AuthenticationHandler, Identity
from pydantic import BaseModel, ConfigDict, Field, Json

from benchmarks.engine.operations import OWNER, TOKEN

MAX_ID = 2147483647
Id = Annotated[int, Field(ge=1, le=MAX_ID)]

json_settings.use(loads=orjson.loads, dumps=lambda value: orjson.dumps(value).decode())


class NewItem(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=64, pattern="^[a-z][a-z0-9-]*$")]
    quantity: Annotated[int, Field(ge=1, le=1000)]
    price: Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$")]
    gift: bool


class NewFlags(BaseModel):
    model_config = ConfigDict(extra="forbid")

    messages: Json[Annotated[list[Id], Field(min_length=1, max_length=1000)]]
    op: Literal["add", "remove"]
    flag: Annotated[str, Field(min_length=1, max_length=30, pattern="^[a-z_]+$")]


class Bearer(AuthenticationHandler):
    async def authenticate(self, context: Any) -> Identity | None:
        header = context.get_first_header(b"Authorization") or b""
        scheme, _, token = header.decode("latin-1").partition(" ")
        if scheme.lower() == "bearer" and token == TOKEN:
            context.user = Identity({"name": OWNER}, "bearer")
        else:
            context.user = Identity({})
        return context.user


router = Router()
app = Application(router=router)
app.use_authentication().add(Bearer())
app.use_authorization()


@auth()
@router.get("/v1/items/{item_id}")
async def access_item(item_id: int, request: Request) -> Response:
    if not 1 <= item_id <= MAX_ID:
        raise BadRequest("item_id is out of range")
    owner = request.user.claims["name"]
    return json({"id": item_id, "name": f"item-{item_id}", "owner": owner})


@allow_anonymous()
@router.post("/v1/items")
async def create_item(data: FromJSON[NewItem]) -> Response:
    return json({"id": 1, **data.value.model_dump()}, status=201)


@allow_anonymous()
@router.post("/v1/flags")
async def update_flags(data: FromForm[NewFlags]) -> Response:
    return json(data.value.model_dump())
