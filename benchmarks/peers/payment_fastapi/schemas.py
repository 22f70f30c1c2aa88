"""The models of requests and responses."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

Ms = Annotated[datetime, PlainSerializer(lambda at: round(at.timestamp() * 1000), return_type=int)]
AtomText = Annotated[int, PlainSerializer(str, return_type=str)]


class NewInvoice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    external_order_id: str = Field(min_length=1, max_length=150)
    attempt_no: int = Field(strict=True, ge=1, le=2147483647)
    amount: str = Field(pattern=r"^(0|[1-9][0-9]{0,71})(\.[0-9]{1,6})?$")
    payment_method_id: str = Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$")


class Route(BaseModel):
    id: str
    environment: Literal["test"] = "test"
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str
    decimals: int
    confirmations_required: int
    available: bool


class PaymentMethods(BaseModel):
    environment: Literal["test"] = "test"
    methods: list[Route]


class PaymentOut(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)

    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    from_address: str = Field(serialization_alias="from")
    amount: AtomText
    confirmations: int
    status: str
    late: bool
    detected_at: Ms


class InvoiceOut(BaseModel):
    id: UUID
    environment: Literal["test"] = "test"
    external_order_id: str
    attempt_no: int
    status: str
    exception: str
    payment_method_id: str
    amount: AtomText
    amount_paid: AtomText
    amount_pending: AtomText
    amount_remaining: AtomText
    amount_overpaid: AtomText
    chain_id: int
    token_address: str
    deposit_address: str
    payment_uri: str
    confirmations_required: int
    payments: list[PaymentOut]
    created_at: Ms
    updated_at: Ms
    expires_at: Ms
    monitoring_ends_at: Ms
    paid_at: Ms | None
    canceled_at: Ms | None


class ErrorDetail(BaseModel):
    path: str
    message: str


class Error(BaseModel):
    code: str
    message: str
    request_id: str
    details: list[ErrorDetail] = []
