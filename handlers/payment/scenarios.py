"""Operations of the tag scenarios."""

import uuid
from datetime import timedelta
from typing import Any, cast

from sqlalchemy.orm import Session

from handlers.payment import render, types
from handlers.payment.wire.context import Context
from models.dialects import INT_MAX
from models.payment import invoices
from models.payment.errors import ChainNotConfigured
from models.payment.event_list import written_id
from models.payment.invoice_view import InvoiceView, access_invoice
from models.payment.invoices import NewestBlock
from models.payment.money import format_units
from models.payment.test_helpers import chains, runs
from models.payment.test_helpers.errors import InvalidShopUrl, NoNextAttempt
from models.payment.test_helpers.runs import Run
from models.payment.test_helpers.scenarios import CATALOGUE, Scenario
from models.webhooks.addresses import AddressRefused
from specd import Response, before_transaction, encode
from specd.db import UtcMs

AMOUNT = "10"


def list_scenarios(ctx: Context) -> types.ScenarioList:
    """List the scenarios."""
    return {"data": [_scenario(each) for each in CATALOGUE.values()]}


def _find_newest_block(ctx: Context, *, body: types.RunRequest | None = None) -> NewestBlock | None:
    """Return the chain's newest block if no watcher has seen it recently, else None."""
    project_id = ctx.actor.project_id
    method = chains.choose_method(
        ctx.connection, project_id=project_id, method_id=(body or {}).get("payment_method_id")
    )
    chain_id = invoices.find_unwatched_chain(
        ctx.connection, project_id=project_id, payment_method_id=method.id, now=ctx.now
    )
    return None if chain_id is None else ctx.adapters.chain.find_newest_block(chain_id)


@before_transaction(_find_newest_block)
async def run_scenario(
    ctx: Context,
    newest: NewestBlock | None,
    *,
    name: str,
    body: types.RunRequest | None = None,
) -> Response:
    """Run a scenario on an existing or new invoice."""
    scenario, asked = runs.find_scenario(name), body or {}
    shop_url: str | None = asked.get("shop_url")
    if shop_url is not None:
        try:
            await ctx.adapters.webhooks.sender.check(shop_url)
        except AddressRefused as refusal:
            raise InvalidShopUrl(problem=str(refusal)) from None

    def start(session: Session) -> types.ScenarioRun:
        invoice = _choose_invoice(ctx, session, scenario, asked, newest)
        if not ctx.adapters.chain.is_configured(invoice.chain_id):
            raise ChainNotConfigured(chain_id=invoice.chain_id)
        following = None
        if scenario.has_next_attempt:
            if invoice.attempt_no == INT_MAX:
                raise NoNextAttempt(last=INT_MAX)
            following = _create(
                ctx,
                session,
                external_order_id=invoice.external_order_id,
                attempt_no=invoice.attempt_no + 1,
                amount=format_units(invoice.amount, invoice.decimals),
                payment_method_id=invoice.payment_method_id,
                newest=newest,
            )
        run = runs.start(
            session,
            scenario,
            project_id=ctx.actor.project_id,
            invoice_id=invoice.id,
            next_invoice_id=None if following is None else following.id,
            shop_url=shop_url,
            chain_id=invoice.chain_id,
            now=ctx.now,
        )
        return _run(run, invoice, [])

    return Response(201, encode(await ctx.write(start)))


def _choose_invoice(
    ctx: Context,
    session: Session,
    scenario: Scenario,
    asked: types.RunRequest,
    newest: NewestBlock | None,
) -> InvoiceView:
    """Return the shop's invoice, or a new one if there is none. Raise `InvoiceDoesNotExist`,
    `OrderAttemptExists`, and the errors of `create_invoice`.
    """
    project_id, order = ctx.actor.project_id, asked.get("external_order_id")
    invoice_id: str | None = asked.get("invoice_id")
    if invoice_id is None and order is not None:
        invoice_id = runs.find_invoice_of_order(
            session,
            project_id=project_id,
            external_order_id=order,
            attempt_no=asked.get("attempt_no", 1),
        )
    if invoice_id is not None:
        invoice = access_invoice(session, project_id=project_id, invoice_id=invoice_id, now=ctx.now)
        method = chains.choose_method(
            session, project_id=project_id, method_id=invoice.payment_method_id
        )
        runs.check_method(scenario, method)
        runs.require_fresh(session, invoice)
        return invoice
    method = chains.choose_method(
        session, project_id=project_id, method_id=asked.get("payment_method_id")
    )
    runs.check_method(scenario, method)
    return _create(
        ctx,
        session,
        external_order_id=order or f"{scenario.name}-{uuid.uuid4()}",
        attempt_no=asked.get("attempt_no", 1),
        amount=asked.get("amount", AMOUNT),
        payment_method_id=method.id,
        newest=newest,
    )


def _create(
    ctx: Context, session: Session, *, newest: NewestBlock | None, **order: Any
) -> InvoiceView:
    """Return a new invoice of the order."""
    checked = invoices.check_order(session, project_id=ctx.actor.project_id, **order)
    if not ctx.adapters.chain.is_configured(checked.chain_id):
        raise ChainNotConfigured(chain_id=checked.chain_id)
    return invoices.create_invoice(
        session,
        checked,
        xpub=ctx.actor.xpub,
        lifetime=timedelta(seconds=ctx.settings.invoice_lifetime_s),
        monitoring=timedelta(seconds=ctx.settings.invoice_monitoring_s),
        now=ctx.now,
        newest=newest,
    )


def get_run(ctx: Context, *, id_: str) -> types.ScenarioRun:
    """Read a run of a scenario."""
    project_id = ctx.actor.project_id
    run = runs.access_run(ctx.connection, project_id=project_id, run_id=id_)
    invoice = access_invoice(
        ctx.connection, project_id=project_id, invoice_id=run.invoice_id, now=ctx.now
    )
    return _run(run, invoice, runs.events_of(ctx.connection, run))


def _scenario(scenario: Scenario) -> types.Scenario:
    """Return the document's Scenario."""
    return {
        "name": scenario.name,
        "description": scenario.description,
        "steps": [str(step) for step in scenario.steps],
        "expected": _expected(scenario),
    }


def _expected(scenario: Scenario) -> types.Expectation:
    """Return the document's Expectation."""
    return {
        "events": [render.event_type(each) for each in scenario.events],
        "fulfilments": scenario.fulfilments,
        "refund": scenario.refund.value,
    }


def _run(run: Run, invoice: InvoiceView, events: list[runs.EventOfRun]) -> types.ScenarioRun:
    """Return the document's ScenarioRun."""
    done = run.done
    steps: list[types.RunStep] = [
        {
            "step": str(step),
            "at": done[n]["at"] if n < len(done) else None,
            "result": done[n]["result"] if n < len(done) else None,
        }
        for n, step in enumerate(run.entry.steps)
    ]
    return {
        "id": run.id,
        "scenario": run.scenario,
        "state": cast("types.RunState", run.state),
        "invoice_id": run.invoice_id,
        "next_invoice_id": run.next_invoice_id,
        "external_order_id": invoice.external_order_id,
        "amount": str(invoice.amount),
        "amount_to_return": str(run.entry.to_return(invoice.amount)),
        "shop_url": run.shop_url,
        "shop_answer": run.shop_answer,
        "steps": steps,
        "expected": _expected(run.entry),
        "events": [
            {"id": written_id(event.id), "type": render.event_type(event.type)} for event in events
        ],
        "failure": run.failure,
        "created_at": UtcMs.to_ms(run.created_at),
        "ended_at": None if run.ended_at is None else UtcMs.to_ms(run.ended_at),
    }
