"""The application: request ids and four operations."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import FastAPI, Header, Request, Response
from sqlalchemy import select
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.peers.payment_fastapi import errors, invoices
from benchmarks.peers.payment_fastapi.database import SessionDep, open_engines
from benchmarks.peers.payment_fastapi.idempotency import fingerprint_of, run_once
from benchmarks.peers.payment_fastapi.schemas import InvoiceOut, NewInvoice, PaymentMethods, Route
from benchmarks.peers.payment_fastapi.security import CurrentProject
from benchmarks.peers.payment_fastapi.settings import Settings
from benchmarks.peers.payment_fastapi.tables import PaymentMethod

Key = Annotated[str, Header(pattern=r"^[A-Za-z0-9._:-]{8,100}$", alias="Idempotency-Key")]


class RequestId:
    """Gives every request an id: `request.state.request_id`, and `Request-Id` in the response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Request-Id"] = request_id
            await send(message)

        await self.app(scope, receive, send_with_id)


def list_payment_methods(
    request: Request, session: SessionDep, project: CurrentProject
) -> PaymentMethods:
    settings: Settings = request.app.state.settings
    query = select(PaymentMethod).where(PaymentMethod.project_id == project.id)
    methods = session.scalars(query.order_by(PaymentMethod.id)).all()
    return PaymentMethods(
        methods=[
            Route(
                id=it.id,
                chain_id=it.chain_id,
                chain_name=it.chain_name,
                token_symbol=it.token_symbol,
                token_address=it.token_address,
                decimals=it.decimals,
                confirmations_required=it.confirmations_required,
                available=it.chain_id in settings.chain_ids,
            )
            for it in methods
        ]
    )


def create_invoice(
    request: Request,
    session: SessionDep,
    project: CurrentProject,
    idempotency_key: Key,
    new: NewInvoice,
) -> Response:
    settings: Settings = request.app.state.settings
    return run_once(
        request,
        session,
        project_id=project.id,
        key=idempotency_key,
        operation="create_invoice",
        fingerprint=fingerprint_of("POST /v1/invoices", {}, new.model_dump()),
        status=201,
        work=lambda now: invoices.create_invoice(session, settings, project, new, now),
    )


def get_invoice(session: SessionDep, project: CurrentProject, id: UUID) -> InvoiceOut:
    invoice = invoices.access_invoice(session, project, str(id))
    return invoices.render(session, invoice, datetime.now(UTC))


def cancel_invoice(
    request: Request,
    session: SessionDep,
    project: CurrentProject,
    idempotency_key: Key,
    id: UUID,
) -> Response:
    path = {"id": str(id)}
    return run_once(
        request,
        session,
        project_id=project.id,
        key=idempotency_key,
        operation="cancel_invoice",
        fingerprint=fingerprint_of("POST /v1/invoices/{id}/cancel", path, None),
        status=200,
        work=lambda now: invoices.cancel_invoice(session, project, str(id), now),
    )


def build_app(settings: Settings) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.engine, app.state.writing_engine = open_engines(settings.database_url)
        yield
        app.state.engine.dispose()
        app.state.writing_engine.dispose()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    app.state.settings = settings
    errors.register(app)
    app.add_middleware(RequestId)
    app.get("/v1/payment-methods")(list_payment_methods)
    app.post("/v1/invoices", status_code=201, response_model=InvoiceOut)(create_invoice)
    app.get("/v1/invoices/{id}")(get_invoice)
    app.post("/v1/invoices/{id}/cancel", response_model=InvoiceOut)(cancel_invoice)
    return app


def from_env() -> FastAPI:
    """For `gunicorn 'benchmarks.peers.payment_fastapi.app:from_env()'`."""
    return build_app(Settings())
