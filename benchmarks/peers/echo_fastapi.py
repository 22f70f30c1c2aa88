"""FastAPI with pydantic, as in its documentation: Depends, closed models, response models."""

from typing import Annotated, Literal

from fastapi import Depends, FastAPI, Form, HTTPException, Path
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, Json

from benchmarks.engine.operations import OWNER, TOKEN

app = FastAPI(openapi_url=None)
bearer = HTTPBearer()

Id = Annotated[int, Field(ge=1, le=2147483647)]


class Item(BaseModel):
    id: int
    name: str
    owner: str


class NewItem(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64, pattern="^[a-z][a-z0-9-]*$")
    quantity: int = Field(strict=True, ge=1, le=1000)
    price: str = Field(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,2})?$")
    gift: bool = Field(strict=True)


class CreatedItem(BaseModel):
    id: int
    name: str
    quantity: int
    price: str
    gift: bool


class NewFlags(BaseModel):
    model_config = ConfigDict(extra="forbid")

    messages: Json[Annotated[list[Id], Field(min_length=1, max_length=1000)]]
    op: Literal["add", "remove"]
    flag: str = Field(min_length=1, max_length=30, pattern="^[a-z_]+$")


class FlagChange(BaseModel):
    messages: list[int]
    op: str
    flag: str


async def current_owner(
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)],
) -> str:
    if credentials.credentials != TOKEN:
        raise HTTPException(401, "Unknown token.", {"WWW-Authenticate": "Bearer"})
    return OWNER


@app.get("/v1/items/{item_id}")
async def access_item(
    item_id: Annotated[int, Path(ge=1, le=2147483647)],
    owner: Annotated[str, Depends(current_owner)],
) -> Item:
    return Item(id=item_id, name=f"item-{item_id}", owner=owner)


@app.post("/v1/items", status_code=201)
async def create_item(item: NewItem) -> CreatedItem:
    return CreatedItem(
        id=1, name=item.name, quantity=item.quantity, price=item.price, gift=item.gift
    )


@app.post("/v1/flags")
async def update_flags(change: Annotated[NewFlags, Form()]) -> FlagChange:
    return FlagChange(messages=change.messages, op=change.op, flag=change.flag)
