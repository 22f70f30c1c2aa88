"""The tables of the test helpers."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.payment.base import PaymentBase
from models.payment.tables import UUID
from specd.db import RowNumber, UtcMs


class SimulatedFault(PaymentBase):
    """A fault for the next `calls` calls to `target`: a chain, or the endpoints of an invoice."""

    __tablename__ = "simulated_fault"

    target: Mapped[str] = mapped_column(String(80), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    calls: Mapped[int] = mapped_column(Integer)
    lag_ms: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class ScenarioRun(PaymentBase):
    """One run of a scenario. `number` is its place in the queue of its chain.

    `step` is the number of completed steps; the next one began at `step_began_at`. `log` is a JSON
    array with the result of each. `failure` is why the run failed. `next_invoice_id` is the invoice
    of the next attempt at the order, in scenarios with two. `shop_url` is where the shop is asked
    for its actions, and `shop_answer` its last response.
    """

    __tablename__ = "scenario_run"
    __table_args__ = (
        Index("ix_scenario_run_unfinished", "ended_at", "number"),
        Index("ix_scenario_run_of_project", "project_id", "ended_at"),
        CheckConstraint(
            "state IN ('queued', 'running', 'delivering', 'passed', 'failed')", name="state"
        ),
        {"sqlite_autoincrement": True},
    )

    number: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(UUID, unique=True)
    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"))
    scenario: Mapped[str] = mapped_column(String(40))
    chain_id: Mapped[int] = mapped_column(BigInteger)
    invoice_id: Mapped[str] = mapped_column(UUID, ForeignKey("invoice.id"))
    next_invoice_id: Mapped[str | None] = mapped_column(UUID)
    shop_url: Mapped[str | None] = mapped_column(String(2000))
    shop_answer: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16))
    step: Mapped[int] = mapped_column(Integer)
    step_began_at: Mapped[datetime] = mapped_column(UtcMs)
    log: Mapped[str] = mapped_column(Text)
    failure: Mapped[str | None] = mapped_column(String(500))
    created_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
    ended_at: Mapped[datetime | None] = mapped_column(UtcMs)
