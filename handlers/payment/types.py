# Written by `specd types`, not by hand. 126e2b608669d480
"""The types of payment: its schemas, and what its handlers get and return."""

# isort: skip_file
from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Never,
    NotRequired,
    Protocol,
    TypeAlias,
    TypeVar,
    TypedDict,
)


class InvoiceCreation(TypedDict):
    external_order_id: str
    attempt_no: int
    amount: str
    payment_method_id: str


class Route(TypedDict):
    id: str
    environment: Environment
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str
    decimals: Literal[6]
    confirmations_required: int
    available: bool


class PaymentMethods(TypedDict):
    environment: Environment
    methods: list[Route]


class Invoice(TypedDict):
    id: str
    environment: Environment
    external_order_id: str
    attempt_no: int
    status: InvoiceStatus
    exception: InvoiceException
    payment_method_id: str
    amount: str
    amount_paid: str
    amount_pending: str
    amount_remaining: str
    amount_overpaid: str
    chain_id: int
    token_address: str
    deposit_address: str
    payment_uri: str
    confirmations_required: int
    payments: list[Payment]
    created_at: int
    updated_at: int
    expires_at: int
    monitoring_ends_at: int
    paid_at: TimeOrNull
    canceled_at: TimeOrNull
    expiry_final: NotRequired[bool]
    derivation_path: NotRequired[str]
    payments_omitted: NotRequired[int]
    warnings: NotRequired[list[AttemptWarning]]
    amount_tolerated: NotRequired[str]
    transfers_left_out: NotRequired[TransfersLeftOut]
    metadata: NotRequired[Metadata]
    resolution: NotRequired[Resolution]


TransfersLeftOut: TypeAlias = Literal[True]


class Resolution(TypedDict):
    reason: ResolutionReason
    note: str
    resolved_at: int
    refund_tx_hash: NotRequired[str]


ResolutionReason: TypeAlias = Literal["refunded", "accepted", "written_off"]

Metadata: TypeAlias = dict[str, str]

InvoiceStatus: TypeAlias = Literal["unpaid", "processing", "paid", "expired", "canceled"]

InvoiceException: TypeAlias = Literal["none", "partial", "over", "late", "reorged"]


class AttemptWarning(TypedDict):
    code: AttemptWarningCode
    message: str
    invoice_id: str


AttemptWarningCode: TypeAlias = Literal["earlier_attempt_open", "earlier_attempt_paid"]

PaymentStatus: TypeAlias = Literal["pending", "confirmed", "orphaned"]

Payment = TypedDict(
    "Payment",
    {
        "tx_hash": str,
        "log_index": int,
        "block_number": int,
        "block_hash": str,
        "from": str,
        "amount": str,
        "confirmations": int,
        "status": PaymentStatus,
        "late": bool,
        "detected_at": int,
    },
)


class CheckoutSessionCreation(TypedDict):
    success_url: NotRequired[str]
    cancel_url: NotRequired[str]


class CheckoutSession(TypedDict):
    invoice_id: str
    checkout_token: str
    checkout_url: str
    expires_at: int
    success_url: NotRequired[str]
    cancel_url: NotRequired[str]


class ErrorResponse(TypedDict):
    code: ErrorCode
    message: str
    request_id: str
    details: list[ErrorDetail]


class ErrorDetail(TypedDict):
    path: str
    message: str
    invoice_id: NotRequired[str]


ErrorCode: TypeAlias = Literal[
    "unauthorized",
    "insufficient_scope",
    "foreign_origin",
    "invoice_not_found",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "invoice_not_cancelable",
    "invoice_not_payable",
    "order_attempt_exists",
    "idempotency_in_progress",
    "body_too_large",
    "unsupported_media_type",
    "invalid_request",
    "invalid_amount",
    "payment_method_not_allowed",
    "idempotency_key_reused",
    "rate_limited",
    "headers_too_large",
    "internal_error",
    "chain_not_configured",
    "chain_unavailable",
    "database_unavailable",
    "event_not_found",
    "webhook_endpoint_not_found",
    "events_gone",
    "invoice_not_resolvable",
    "too_many_webhook_endpoints",
    "webhook_endpoint_disabled",
    "webhook_test_in_progress",
    "invalid_webhook_url",
    "invalid_metadata",
    "too_many_invoices",
    "too_many_payments",
    "invalid_cursor",
    "chain_not_found",
    "scenario_not_found",
    "run_not_found",
    "chain_cannot_do_that",
    "nothing_due",
    "invoice_not_expirable",
    "too_few_confirmations",
    "no_next_attempt",
    "too_many_runs",
]

Environment: TypeAlias = Literal["test"]

TimeOrNull: TypeAlias = int | None


class InvoiceList(TypedDict):
    data: list[Invoice]
    has_more: bool
    next_cursor: str | None


class Key(TypedDict):
    id: str
    scope: KeyScope
    project_name: str


KeyScope: TypeAlias = Literal["read", "write"]


class MetadataChange(TypedDict):
    metadata: dict[str, str]


class InvoiceMetadata(TypedDict):
    invoice_id: str
    metadata: Metadata
    amount_tolerated: NotRequired[str]
    transfers_left_out: NotRequired[TransfersLeftOut]
    resolution: NotRequired[Resolution]


class ResolutionCreation(TypedDict):
    reason: ResolutionReason
    note: NotRequired[str]
    refund_tx_hash: NotRequired[str]


class EventList(TypedDict):
    data: list[Event]
    has_more: bool
    next_cursor: str | None


class Event(TypedDict):
    id: str
    type: EventType
    created_at: int
    invoice_id: str | None
    data: EventData


class EventData(TypedDict):
    invoice: NotRequired[Invoice]
    payment: NotRequired[Payment]
    webhook_endpoint: NotRequired[WebhookEndpoint]


EventType: TypeAlias = Literal[
    "invoice.created",
    "invoice.payment_received",
    "invoice.payment_reorged",
    "invoice.partially_paid",
    "invoice.processing",
    "invoice.paid",
    "invoice.overpaid",
    "invoice.expired",
    "invoice.canceled",
    "invoice.paid_late",
    "invoice.reorged",
    "invoice.resolved",
    "webhook_endpoint.disabled",
]


class WebhookEndpointList(TypedDict):
    data: list[WebhookEndpoint]


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    event_types: SubscribedTypes
    description: str
    status: EndpointStatus
    disabled_reason: DisabledReason
    created_at: int
    updated_at: int
    events_missed: NotRequired[Literal[True]]


class WebhookEndpointWithSecret(TypedDict):
    id: str
    url: str
    event_types: SubscribedTypes
    description: str
    status: EndpointStatus
    disabled_reason: DisabledReason
    created_at: int
    updated_at: int
    secret: str


class WebhookEndpointCreation(TypedDict):
    url: str
    event_types: SubscribedTypes
    description: NotRequired[str]


class WebhookEndpointChange(TypedDict):
    url: NotRequired[str]
    event_types: NotRequired[SubscribedTypes]
    description: NotRequired[str]
    status: NotRequired[EndpointStatus]


class SecretRotation(TypedDict):
    grace_s: NotRequired[int]


class WebhookTestResult(TypedDict):
    webhook_endpoint_id: str
    taken: bool
    status_code: ReceivedStatus
    failure: DeliveryFailure
    duration_ms: int
    answer: str


class WebhookAttemptList(TypedDict):
    data: list[WebhookAttempt]
    has_more: bool
    next_cursor: str | None


class WebhookAttempt(TypedDict):
    id: str
    event_id: str
    event_type: EventType
    attempt_no: int
    redelivered: bool
    at: int
    taken: bool
    status_code: ReceivedStatus
    failure: DeliveryFailure
    duration_ms: int
    answer: str
    next_attempt_at: TimeOrNull


class WebhookDelivery(TypedDict):
    webhook_endpoint_id: str
    event_id: str
    state: DeliveryState


DeliveryState: TypeAlias = Literal["due", "waiting"]

UnusualMoney: TypeAlias = Literal["partial", "over", "late", "reorged"]

SubscribedType: TypeAlias = Literal[
    "*",
    "invoice.created",
    "invoice.payment_received",
    "invoice.payment_reorged",
    "invoice.partially_paid",
    "invoice.processing",
    "invoice.paid",
    "invoice.overpaid",
    "invoice.expired",
    "invoice.canceled",
    "invoice.paid_late",
    "invoice.reorged",
    "invoice.resolved",
    "webhook_endpoint.disabled",
]

SubscribedTypes: TypeAlias = list[SubscribedType]

EndpointStatus: TypeAlias = Literal["enabled", "disabled"]

DisabledReason: TypeAlias = Literal["gone", "failing"] | None

ReceivedStatus: TypeAlias = int | None

DeliveryFailure: TypeAlias = str | None


class PaymentRequest(TypedDict):
    amount: NotRequired[str]
    transfers: NotRequired[int]
    payer: NotRequired[int]
    late: NotRequired[bool]
    confirmations: NotRequired[int]
    wait_s: NotRequired[int]


class ExpiryRequest(TypedDict):
    wait_s: NotRequired[int]


class TestPayment(TypedDict):
    transactions: list[TestTransaction]
    invoice: Invoice


TestTransaction = TypedDict(
    "TestTransaction",
    {
        "tx_hash": str,
        "from": str,
        "amount": str,
        "block_number": int | None,
    },
)


class BlocksRequest(TypedDict):
    count: NotRequired[int]


class ReorganisationRequest(TypedDict):
    depth: int


class ClockRequest(TypedDict):
    advance_s: int


class TestChain(TypedDict):
    chain_id: int
    head_number: int
    head_time: int


class FaultsRequest(TypedDict):
    kind: FaultKind
    calls: int
    lag_ms: NotRequired[int]


FaultKind: TypeAlias = Literal["fail", "lag", "refuse"]


class SimulatedFaults(TypedDict):
    chain_id: int
    kind: FaultKind
    calls: int


class SampleRequest(TypedDict):
    type: EventType
    webhook_endpoint_id: NotRequired[str]


class SampleResult(TypedDict):
    id: str
    type: EventType
    results: list[WebhookTestResult]


class ScenarioList(TypedDict):
    data: list[Scenario]


class Scenario(TypedDict):
    name: str
    description: str
    steps: list[str]
    expected: Expectation


class Expectation(TypedDict):
    events: list[EventType]
    fulfilments: int
    refund: Refund


Refund: TypeAlias = Literal["none", "excess", "all"]


class RunRequest(TypedDict):
    external_order_id: NotRequired[str]
    attempt_no: NotRequired[int]
    amount: NotRequired[str]
    payment_method_id: NotRequired[str]
    invoice_id: NotRequired[str]
    shop_url: NotRequired[str]


RunState: TypeAlias = Literal["queued", "running", "delivering", "passed", "failed"]


class ScenarioRun(TypedDict):
    id: str
    scenario: str
    state: RunState
    invoice_id: str
    next_invoice_id: str | None
    external_order_id: str
    amount: str
    amount_to_return: str
    shop_url: str | None
    shop_answer: str | None
    steps: list[RunStep]
    expected: Expectation
    events: list[RunEvent]
    failure: str | None
    created_at: int
    ended_at: TimeOrNull


class RunStep(TypedDict):
    step: str
    at: TimeOrNull
    result: str | None


class RunEvent(TypedDict):
    id: str
    type: EventType


if TYPE_CHECKING:
    from specd import Response
    from handlers.payment import payment_methods as _payment_methods
    from handlers.payment import invoices as _invoices
    from handlers.payment import checkout_sessions as _checkout_sessions
    from handlers.payment import events as _events
    from handlers.payment import webhook_endpoints as _webhook_endpoints
    from handlers.payment import keys as _keys
    from handlers.payment import payments as _payments
    from handlers.payment import chains as _chains
    from handlers.payment import sample_events as _sample_events
    from handlers.payment import scenarios as _scenarios

    _Body = TypeVar("_Body")
    _Status = TypeVar("_Status")
    _Reply: TypeAlias = tuple[_Body, _Status] | tuple[_Body, _Status, Mapping[str, str]]
    _Returned: TypeAlias = _Body | Response | Awaitable[_Body | Response]
    _Pieces: TypeAlias = str | bytes | Iterator[Any] | AsyncIterator[Any]
    _ListPaymentMethodsReply: TypeAlias = (
        PaymentMethods
        | _Reply[PaymentMethods, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 409, 422, 429, 431, 500, 503]]
    )

    class _ListPaymentMethods(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListPaymentMethodsReply]: ...

    _CreateInvoiceReply: TypeAlias = (
        _Reply[Invoice, Literal[201]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _CreateInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str,
            body: InvoiceCreation,
        ) -> _Returned[_CreateInvoiceReply]: ...

    _ListInvoicesReply: TypeAlias = (
        InvoiceList
        | _Reply[InvoiceList, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 422, 429, 431, 500, 503]]
    )

    class _ListInvoices(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            external_order_id: str = ...,
            status: list[InvoiceStatus] = ...,
            exception: list[UnusualMoney] = ...,
            deposit_address: str = ...,
            tx_hash: str = ...,
            payment_method_id: str = ...,
            created_from: int = ...,
            created_to: int = ...,
            updated_from: int = ...,
            resolved: bool = ...,
            order: Literal["desc", "asc"],
            limit: int,
            cursor: str = ...,
        ) -> _Returned[_ListInvoicesReply]: ...

    _GetInvoiceReply: TypeAlias = (
        Invoice
        | _Reply[Invoice, Literal[200]]
        | _Reply[None, Literal[304]]
        | _Reply[ErrorResponse, Literal[401, 404, 409, 422, 429, 431, 500, 503]]
    )

    class _GetInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            if_none_match: str = ...,
            id_: str,
        ) -> _Returned[_GetInvoiceReply]: ...

    _CreateCheckoutSessionReply: TypeAlias = (
        _Reply[CheckoutSession, Literal[201]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _CreateCheckoutSession(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: CheckoutSessionCreation = ...,
        ) -> _Returned[_CreateCheckoutSessionReply]: ...

    _CancelInvoiceReply: TypeAlias = (
        Invoice
        | _Reply[Invoice, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 409, 422, 429, 431, 500, 503]]
    )

    class _CancelInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str,
            id_: str,
        ) -> _Returned[_CancelInvoiceReply]: ...

    _ExportInvoicesReply: TypeAlias = (
        _Pieces
        | _Reply[_Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 422, 429, 431, 500, 503]]
    )

    class _ExportInvoices(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            external_order_id: str = ...,
            status: list[InvoiceStatus] = ...,
            exception: list[UnusualMoney] = ...,
            deposit_address: str = ...,
            tx_hash: str = ...,
            payment_method_id: str = ...,
            created_from: int = ...,
            created_to: int = ...,
            updated_from: int = ...,
            resolved: bool = ...,
            order: Literal["desc", "asc"],
        ) -> _Returned[_ExportInvoicesReply]: ...

    _ResolveInvoiceReply: TypeAlias = (
        Invoice
        | _Reply[Invoice, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _ResolveInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: ResolutionCreation,
        ) -> _Returned[_ResolveInvoiceReply]: ...

    _ExportPaymentsReply: TypeAlias = (
        _Pieces
        | _Reply[_Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 422, 429, 431, 500, 503]]
    )

    class _ExportPayments(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            received_from: int = ...,
            received_to: int = ...,
            order: Literal["desc", "asc"],
        ) -> _Returned[_ExportPaymentsReply]: ...

    _PutMetadataReply: TypeAlias = (
        InvoiceMetadata
        | _Reply[InvoiceMetadata, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 413, 415, 422, 429, 431, 500, 503]]
    )

    class _PutMetadata(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: MetadataChange,
        ) -> _Returned[_PutMetadataReply]: ...

    _GetMetadataReply: TypeAlias = (
        InvoiceMetadata
        | _Reply[InvoiceMetadata, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 422, 429, 431, 500, 503]]
    )

    class _GetMetadata(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_GetMetadataReply]: ...

    _ListEventsReply: TypeAlias = (
        EventList
        | _Reply[EventList, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 410, 422, 429, 431, 500, 503]]
    )

    class _ListEvents(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            after: str = ...,
            type_: list[EventType] = ...,
            invoice_id: str = ...,
            limit: int,
            wait_s: int,
        ) -> _Returned[_ListEventsReply]: ...

    _GetEventReply: TypeAlias = (
        Event
        | _Reply[Event, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 422, 429, 431, 500, 503]]
    )

    class _GetEvent(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_GetEventReply]: ...

    _ListWebhookEndpointsReply: TypeAlias = (
        WebhookEndpointList
        | _Reply[WebhookEndpointList, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 422, 429, 431, 500, 503]]
    )

    class _ListWebhookEndpoints(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListWebhookEndpointsReply]: ...

    _CreateWebhookEndpointReply: TypeAlias = (
        _Reply[WebhookEndpointWithSecret, Literal[201]]
        | _Reply[ErrorResponse, Literal[401, 403, 408, 409, 413, 415, 422, 429, 431, 500, 503]]
    )

    class _CreateWebhookEndpoint(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str,
            body: WebhookEndpointCreation,
        ) -> _Returned[_CreateWebhookEndpointReply]: ...

    _RotateWebhookSecretReply: TypeAlias = (
        WebhookEndpointWithSecret
        | _Reply[WebhookEndpointWithSecret, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 413, 415, 422, 429, 431, 500, 503]]
    )

    class _RotateWebhookSecret(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: SecretRotation = ...,
        ) -> _Returned[_RotateWebhookSecretReply]: ...

    _TestWebhookEndpointReply: TypeAlias = (
        WebhookTestResult
        | _Reply[WebhookTestResult, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 409, 422, 429, 431, 500, 503]]
    )

    class _TestWebhookEndpoint(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_TestWebhookEndpointReply]: ...

    _ListWebhookDeliveriesReply: TypeAlias = (
        WebhookAttemptList
        | _Reply[WebhookAttemptList, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 422, 429, 431, 500, 503]]
    )

    class _ListWebhookDeliveries(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            cursor: str = ...,
            limit: int,
            id_: str,
        ) -> _Returned[_ListWebhookDeliveriesReply]: ...

    _RedeliverWebhookEventReply: TypeAlias = (
        WebhookDelivery
        | _Reply[WebhookDelivery, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 409, 422, 429, 431, 500, 503]]
    )

    class _RedeliverWebhookEvent(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            event_id: str,
        ) -> _Returned[_RedeliverWebhookEventReply]: ...

    _GetWebhookEndpointReply: TypeAlias = (
        WebhookEndpoint
        | _Reply[WebhookEndpoint, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 404, 422, 429, 431, 500, 503]]
    )

    class _GetWebhookEndpoint(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_GetWebhookEndpointReply]: ...

    _UpdateWebhookEndpointReply: TypeAlias = (
        WebhookEndpoint
        | _Reply[WebhookEndpoint, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 413, 415, 422, 429, 431, 500, 503]]
    )

    class _UpdateWebhookEndpoint(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: WebhookEndpointChange,
        ) -> _Returned[_UpdateWebhookEndpointReply]: ...

    _DeleteWebhookEndpointReply: TypeAlias = (
        _Reply[None, Literal[204]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 422, 429, 431, 500, 503]]
    )

    class _DeleteWebhookEndpoint(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_DeleteWebhookEndpointReply]: ...

    _GetKeyReply: TypeAlias = (
        Key
        | _Reply[Key, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 422, 429, 431, 500, 503]]
    )

    class _GetKey(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetKeyReply]: ...

    _PayInvoiceReply: TypeAlias = (
        _Reply[TestPayment, Literal[201]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _PayInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: PaymentRequest = ...,
        ) -> _Returned[_PayInvoiceReply]: ...

    _ExpireInvoiceReply: TypeAlias = (
        Invoice
        | _Reply[Invoice, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _ExpireInvoice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            id_: str,
            body: ExpiryRequest = ...,
        ) -> _Returned[_ExpireInvoiceReply]: ...

    _MineBlocksReply: TypeAlias = (
        TestChain
        | _Reply[TestChain, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _MineBlocks(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            chain_id: int,
            body: BlocksRequest = ...,
        ) -> _Returned[_MineBlocksReply]: ...

    _ReorganiseChainReply: TypeAlias = (
        TestChain
        | _Reply[TestChain, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _ReorganiseChain(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            chain_id: int,
            body: ReorganisationRequest,
        ) -> _Returned[_ReorganiseChainReply]: ...

    _AdvanceClockReply: TypeAlias = (
        TestChain
        | _Reply[TestChain, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _AdvanceClock(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            chain_id: int,
            body: ClockRequest,
        ) -> _Returned[_AdvanceClockReply]: ...

    _SimulateFaultsReply: TypeAlias = (
        SimulatedFaults
        | _Reply[SimulatedFaults, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 413, 415, 422, 429, 431, 500, 503]]
    )

    class _SimulateFaults(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            chain_id: int,
            body: FaultsRequest,
        ) -> _Returned[_SimulateFaultsReply]: ...

    _SendSampleEventReply: TypeAlias = (
        SampleResult
        | _Reply[SampleResult, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _SendSampleEvent(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            body: SampleRequest,
        ) -> _Returned[_SendSampleEventReply]: ...

    _ListScenariosReply: TypeAlias = (
        ScenarioList
        | _Reply[ScenarioList, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 422, 429, 431, 500, 503]]
    )

    class _ListScenarios(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListScenariosReply]: ...

    _RunScenarioReply: TypeAlias = (
        _Reply[ScenarioRun, Literal[201]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
    )

    class _RunScenario(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str,
            body: RunRequest = ...,
        ) -> _Returned[_RunScenarioReply]: ...

    _GetRunReply: TypeAlias = (
        ScenarioRun
        | _Reply[ScenarioRun, Literal[200]]
        | _Reply[ErrorResponse, Literal[401, 403, 404, 422, 429, 431, 500, 503]]
    )

    class _GetRun(Protocol):
        def __call__(self, ctx: Never, *, id_: str) -> _Returned[_GetRunReply]: ...

    def compare_handlers() -> None:
        _1: _ListPaymentMethods = _payment_methods.list_payment_methods
        _2: _CreateInvoice = _invoices.create_invoice
        _3: _ListInvoices = _invoices.list_invoices
        _4: _GetInvoice = _invoices.get_invoice
        _5: _CreateCheckoutSession = _checkout_sessions.create_checkout_session
        _6: _CancelInvoice = _invoices.cancel_invoice
        _7: _ExportInvoices = _invoices.export_invoices
        _8: _ResolveInvoice = _invoices.resolve_invoice
        _9: _ExportPayments = _invoices.export_payments
        _10: _PutMetadata = _invoices.put_metadata
        _11: _GetMetadata = _invoices.get_metadata
        _12: _ListEvents = _events.list_events
        _13: _GetEvent = _events.get_event
        _14: _ListWebhookEndpoints = _webhook_endpoints.list_webhook_endpoints
        _15: _CreateWebhookEndpoint = _webhook_endpoints.create_webhook_endpoint
        _16: _RotateWebhookSecret = _webhook_endpoints.rotate_webhook_secret
        _17: _TestWebhookEndpoint = _webhook_endpoints.test_webhook_endpoint
        _18: _ListWebhookDeliveries = _webhook_endpoints.list_webhook_deliveries
        _19: _RedeliverWebhookEvent = _webhook_endpoints.redeliver_webhook_event
        _20: _GetWebhookEndpoint = _webhook_endpoints.get_webhook_endpoint
        _21: _UpdateWebhookEndpoint = _webhook_endpoints.update_webhook_endpoint
        _22: _DeleteWebhookEndpoint = _webhook_endpoints.delete_webhook_endpoint
        _23: _GetKey = _keys.get_key
        _24: _PayInvoice = _payments.pay_invoice
        _25: _ExpireInvoice = _payments.expire_invoice
        _26: _MineBlocks = _chains.mine_blocks
        _27: _ReorganiseChain = _chains.reorganise_chain
        _28: _AdvanceClock = _chains.advance_clock
        _29: _SimulateFaults = _chains.simulate_faults
        _30: _SendSampleEvent = _sample_events.send_sample_event
        _31: _ListScenarios = _scenarios.list_scenarios
        _32: _RunScenario = _scenarios.run_scenario
        _33: _GetRun = _scenarios.get_run
