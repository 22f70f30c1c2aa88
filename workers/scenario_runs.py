"""The worker that runs scenarios, one step of each run at a time.

The actions of a step on a chain or an endpoint are outside of any transaction. Then the step is
recorded. If the worker is killed in between, the step is repeated, so every step first checks what
has already been done. A lease elects one of several processes.
"""

import asyncio
import secrets
from datetime import timedelta
from functools import singledispatchmethod

import orjson
from sqlalchemy.orm import Session

from adapters.chain.development import DevelopmentChains, NodeRefuses
from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from adapters.webhooks.sender import Received, WebhookSender
from models.payment.invoice_view import InvoiceView, access_invoice
from models.payment.lifecycle import CANCELED, NONE, ORPHANED
from models.payment.money import format_units
from models.payment.rendering import render_invoice
from models.payment.settlement import cancel_invoice
from models.payment.test_helpers import expiring, faults, runs
from models.payment.test_helpers.runs import DELIVERING, QUEUED, Run
from models.payment.test_helpers.scenarios import (
    Await,
    Cancel,
    Confirm,
    EndpointDown,
    Expire,
    Forge,
    Pay,
    Redeliver,
    Reorganise,
    SlowChain,
    Step,
)
from models.payment.webhooks import deliveries
from models.payment.webhooks.endpoints import Endpoint
from models.payment.webhooks.outcomes import is_success
from models.webhooks import signing
from specd import Refusal
from specd.db import Clock, Database
from specd.errors import DatabaseUnavailable

STEP_WITHIN = timedelta(minutes=1)
"""The time limit of a step."""
ASK_WITHIN = timedelta(seconds=10)
"""How long after the last step the shop is asked again if its answer is wrong."""
RUNS_AT_ONCE = 100


class StepFailed(Exception):
    """The run has failed. The message is the reason."""


class ScenarioRunner:
    """Runs the scenarios of one database. `try_some` is the worker's step."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        chains: DevelopmentChains,
        sender: WebhookSender,
    ) -> None:
        self._database, self._clock = database, clock
        self._chains, self._sender = chains, sender

    def try_some(self) -> bool:
        """Do the next step of each run that is not blocked. Return whether there was one."""
        with self._database.reading() as reader:
            found = runs.find_to_do(reader, limit=RUNS_AT_ONCE)
        return any([self._go_on(run) for run in found])

    def _go_on(self, run: Run) -> bool:
        if run.state == QUEUED:
            return self._database.run(lambda db: runs.begin(db, run, now=self._clock.now()))
        try:
            if run.state == DELIVERING:
                return self._judge(run)
            result = self._do(run.entry.steps[run.step], run)
        except DatabaseUnavailable:
            raise  # the loop tries again
        except StepFailed as failure:
            return self._end(run, str(failure))
        except Refusal as refusal:
            return self._end(run, str(refusal))
        except (ChainUnreachable, NoEndpoint, NodeRefuses) as error:
            if isinstance(error, NodeRefuses):
                return self._end(run, f"chain {run.chain_id} {error}")
            result = None
        if result is None:
            self._check_time(run)
            return False
        return self._database.run(
            lambda session: runs.note_step(session, run, result, now=self._clock.now())
        )

    def _judge(self, run: Run) -> bool:
        """End the run if its messages are delivered or delivery has failed."""
        with self._database.reading() as reader:
            failure = runs.find_missing(reader, run) or runs.find_refusal(reader, run)
            is_delivered = runs.is_delivered(reader, run)
        if failure is None and not is_delivered:
            self._check_time(run)
            return False
        if failure is None and run.shop_url is not None:
            return self._ask(run, run.shop_url)
        return self._end(run, failure)

    def _ask(self, run: Run, url: str) -> bool:
        """Ask the shop what it did. End the run if that is right or `ASK_WITHIN` is over."""
        invoice = self._invoice(run)
        question = {
            "run_id": run.id,
            "scenario": run.scenario,
            "external_order_id": invoice.external_order_id,
            "invoice_ids": run.invoice_ids,
        }
        headers = {"content-type": "application/json"}

        async def post() -> Received:
            try:
                return await self._sender.post(url, headers, orjson.dumps(question))
            finally:
                await self._sender.close()

        received = asyncio.run(post())
        answer = received.answer if is_success(received.status) else ""
        if received.status is None:
            mistake: str | None = f"the shop did not respond ({received.failure})"
        elif not is_success(received.status):
            mistake = f"the shop returned {received.status} for the request for its result"
        else:
            mistake = runs.find_mistake(run, answer, amount=invoice.amount)
        if mistake is not None and self._clock.now() - run.step_began_at < ASK_WITHIN:
            return False
        self._database.run(lambda session: runs.note_answer(session, run, answer))
        return self._end(run, mistake)

    def _check_time(self, run: Run) -> None:
        """End the run as failed if its step has taken too long."""
        if self._clock.now() - run.step_began_at < STEP_WITHIN:
            return
        if run.state == DELIVERING:
            self._end(run, "an endpoint has not accepted all messages within a minute")
            return
        invoice = self._invoice(run)
        told = f"{invoice.status}, {invoice.exception}"
        step = run.entry.steps[run.step]
        self._end(run, f"not done within a minute: {step}; it is {told}")

    def _end(self, run: Run, failure: str | None) -> bool:
        return self._database.run(
            lambda session: runs.end(session, run, failure, now=self._clock.now())
        )

    def _invoice(self, run: Run, *, is_next: bool = False) -> InvoiceView:
        with self._database.reading() as reader:
            return access_invoice(
                reader,
                project_id=run.project_id,
                invoice_id=run.invoice_ids[-1] if is_next else run.invoice_id,
                now=self._clock.now(),
            )

    def _receivers(self, run: Run, type_: str) -> list[Endpoint]:
        with self._database.reading() as reader:
            return runs.find_receivers(reader, run.project_id, type_)

    @singledispatchmethod
    def _do(self, step: Step, run: Run) -> str | None:
        """Do a step. Return a description of the result, or None if the step must wait."""
        raise NotImplementedError(step)

    @_do.register
    def _pay(self, step: Pay, run: Run) -> str | None:
        after_s = self._end_time(run) if step.late else None
        invoice = self._invoice(run, is_next=step.next_attempt)
        wanted = invoice.amount * step.percent // 100

        async def pay() -> str:
            arrived = await self._chains.balance(
                run.chain_id, invoice.token_address, invoice.deposit_address
            )
            if arrived >= wanted:
                return "already arrived"
            (sent,) = await self._chains.pay(
                run.chain_id,
                invoice.token_address,
                invoice.deposit_address,
                [wanted - arrived],
                after_s=after_s,
            )
            place = "no block yet" if sent.block_number is None else f"block {sent.block_number}"
            return f"{format_units(sent.amount)} {invoice.token_symbol} in {place}"

        return asyncio.run(pay())

    @_do.register
    def _confirm(self, step: Confirm, run: Run) -> str | None:
        count = self._invoice(run).confirmations_required
        head = asyncio.run(self._chains.mine(run.chain_id, count))
        return f"the newest block is {head.number}"

    @_do.register
    def _await(self, step: Await, run: Run) -> str | None:
        invoice = self._invoice(run, is_next=step.next_attempt)
        state = (invoice.status, invoice.exception)
        if state not in step.states or (step.finally_ and not invoice.expiry_final):
            return None
        return ", ".join(word for word in state if word != NONE)

    @_do.register
    def _expire(self, step: Expire, run: Run) -> str | None:
        asyncio.run(self._chains.mine(run.chain_id, 1, after_s=self._end_time(run)))
        return "expired"

    @_do.register
    def _cancel(self, step: Cancel, run: Run) -> str | None:
        if self._invoice(run).status != CANCELED:
            self._database.run(
                lambda session: cancel_invoice(
                    session,
                    project_id=run.project_id,
                    invoice_id=run.invoice_id,
                    now=self._clock.now(),
                )
            )
        return "canceled"

    @_do.register
    def _reorganise(self, step: Reorganise, run: Run) -> str | None:
        invoice = self._invoice(run)
        counted = [p.block_number for p in invoice.payments if p.status != ORPHANED]

        async def reorganise() -> str:
            if not counted or not await self._chains.balance(
                run.chain_id, invoice.token_address, invoice.deposit_address
            ):
                return "the payments are already removed"
            head = await self._chains.head(run.chain_id)
            depth = head.number - min(counted) + 1
            await self._chains.reorganise(run.chain_id, depth)
            return f"replaced the newest {depth} blocks"

        return asyncio.run(reorganise())

    @_do.register
    def _slow_chain(self, step: SlowChain, run: Run) -> str | None:
        self._put(
            faults.chain_target(run.chain_id),
            faults.Kind.LAG,
            step.calls,
            timedelta(milliseconds=step.lag_ms),
        )
        return "responses are delayed"

    @_do.register
    def _endpoint_down(self, step: EndpointDown, run: Run) -> str | None:
        target = faults.invoice_target(run.invoice_id)
        self._put(target, faults.Kind.REFUSE, step.messages, timedelta())
        return "messages fail"

    @_do.register
    def _redeliver(self, step: Redeliver, run: Run) -> str | None:
        with self._database.reading() as reader:
            events = [each for each in runs.events_of(reader, run) if each.type == step.type]
            if not events or not (step.overtakes or runs.is_delivered(reader, run)):
                return None
        endpoints = self._receivers(run, step.type)

        def redeliver(session: Session) -> None:
            for endpoint in endpoints:
                deliveries.redeliver(
                    session,
                    project_id=run.project_id,
                    endpoint_id=endpoint.id,
                    event_id=events[0].id,
                    now=self._clock.now(),
                )

        self._database.run(redeliver)
        return f"posted to {_count(endpoints)}"

    @_do.register
    def _forge(self, step: Forge, run: Run) -> str | None:
        now = self._clock.now()
        invoice = render_invoice(self._invoice(run))
        paid = {"status": "paid", "amount_paid": invoice["amount"], "amount_remaining": "0"}
        id_ = f"forged_{secrets.token_hex(12)}"
        body = signing.write_message(id_, step.type, now, {"invoice": invoice | paid})
        headers = signing.sign(id_, body, [signing.new_secret()], now=now)
        endpoints = self._receivers(run, step.type)

        async def post() -> list[Received]:
            try:
                return [await self._sender.post(each.url, headers, body) for each in endpoints]
            finally:
                await self._sender.close()

        for endpoint, received in zip(endpoints, asyncio.run(post()), strict=True):
            if is_success(received.status):
                raise StepFailed(
                    f"endpoint {endpoint.id} returned {received.status} for a message with an"
                    " invalid signature"
                )
            if received.status is None:
                raise StepFailed(f"endpoint {endpoint.id} failed ({received.failure})")
        return f"rejected by {_count(endpoints)}"

    def _end_time(self, run: Run) -> int:
        moment = self._database.run(
            lambda session: expiring.end_time(
                session,
                project_id=run.project_id,
                invoice_id=run.invoice_id,
                now=self._clock.now(),
            )
        )
        return int(moment.timestamp())

    def _put(self, target: str, kind: faults.Kind, calls: int, lag: timedelta) -> None:
        self._database.run(
            lambda session: faults.put(
                session, target, kind, calls=calls, lag=lag, now=self._clock.now()
            )
        )


def _count(endpoints: list[Endpoint]) -> str:
    return f"{len(endpoints)} endpoint{'' if len(endpoints) == 1 else 's'}"
