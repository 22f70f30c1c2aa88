"""Operations of the tag scenarios."""

import uuid
from datetime import timedelta
from typing import Any

from handlers.payment.wire.context import Context
from models.payment import invoices
from models.payment.errors import ChainNotConfigured
from models.payment.event_list import written_id
from models.payment.invoices import NewestBlock
from models.payment.test_helpers import chains, runs
from models.payment.test_helpers.runs import Run
from models.payment.test_helpers.scenarios import CATALOGUE, Scenario
from models.types import to_ms
from server.phases import prepared_by

AMOUNT = "10"


def list_scenarios(ctx: Context) -> dict[str, Any]:
    """List the scenarios."""
    return {"data": [_scenario(each) for each in CATALOGUE.values()]}


def _find_newest_block(ctx: Context, *, body: dict[str, Any] | None = None) -> NewestBlock | None:
    """Return the chain's newest block if no watcher has seen it lately."""
    project_id = ctx.actor.project_id
    method = chains.choose_method(
        ctx.session, project_id=project_id, method_id=(body or {}).get("payment_method_id")
    )
    chain_id = invoices.find_unwatched_chain(
        ctx.session, project_id=project_id, payment_method_id=method.id, now=ctx.now
    )
    return None if chain_id is None else ctx.adapters.chain.find_newest_block(chain_id)


@prepared_by(_find_newest_block)
def run_scenario(
    ctx: Context,
    newest: NewestBlock | None,
    *,
    name: str,
    body: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], int]:
    """Run a scenario with a new invoice."""
    scenario, asked, project_id = runs.find_scenario(name), body or {}, ctx.actor.project_id
    method = chains.choose_method(
        ctx.session, project_id=project_id, method_id=asked.get("payment_method_id")
    )
    runs.check_method(scenario, method)
    if not ctx.adapters.chain.is_configured(method.chain_id):
        raise ChainNotConfigured(chain_id=method.chain_id)
    order = invoices.check_order(
        ctx.session,
        project_id=project_id,
        external_order_id=asked.get("external_order_id", f"{name}-{uuid.uuid4()}"),
        attempt_no=asked.get("attempt_no", 1),
        amount=asked.get("amount", AMOUNT),
        payment_method_id=method.id,
    )
    invoice = invoices.create_invoice(
        ctx.session,
        order,
        xpub=ctx.actor.xpub,
        lifetime=timedelta(seconds=ctx.settings.invoice_lifetime_s),
        monitoring=timedelta(seconds=ctx.settings.invoice_monitoring_s),
        now=ctx.now,
        newest=newest,
    )
    run = runs.start(
        ctx.session,
        scenario,
        project_id=project_id,
        invoice_id=invoice.id,
        chain_id=invoice.chain_id,
        now=ctx.now,
    )
    return _run(run, []), 201


def get_run(ctx: Context, *, id_: str) -> dict[str, Any]:
    """Read a run of a scenario."""
    run = runs.access_run(ctx.session, project_id=ctx.actor.project_id, run_id=id_)
    return _run(run, runs.events_of(ctx.session, run))


def _scenario(scenario: Scenario) -> dict[str, Any]:
    """The document's Scenario."""
    return {
        "name": scenario.name,
        "description": scenario.description,
        "steps": [str(step) for step in scenario.steps],
        "expected": _expected(scenario),
    }


def _expected(scenario: Scenario) -> dict[str, Any]:
    """The document's Expectation."""
    return {
        "events": list(scenario.events),
        "fulfilments": scenario.fulfilments,
        "refund": scenario.refund.value,
    }


def _run(run: Run, events: list[runs.EventOfRun]) -> dict[str, Any]:
    """The document's ScenarioRun."""
    done = run.done
    steps = [
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
        "state": run.state,
        "invoice_id": run.invoice_id,
        "steps": steps,
        "expected": _expected(run.entry),
        "events": [{"id": written_id(event.id), "type": event.type} for event in events],
        "failure": run.failure,
        "created_at": to_ms(run.created_at),
        "ended_at": None if run.ended_at is None else to_ms(run.ended_at),
    }
