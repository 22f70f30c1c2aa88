"""Permanent data has a stated reason, and all other data has a retention rule."""

from datetime import timedelta
from types import ModuleType

import pytest
from sqlalchemy import MetaData

import models.chat.tables
import models.payment.tables  # noqa: F401
from models.chat import retention as chat
from models.chat.base import ChatBase
from models.payment import retention as payment
from models.payment.base import PaymentBase
from settings import Settings
from specd.db import UtcMs
from specd.errors import SettingsError

SERVICES = pytest.mark.parametrize(
    ("metadata", "policy"),
    [(PaymentBase.metadata, payment), (ChatBase.metadata, chat)],
    ids=["payment", "chat"],
)


@SERVICES
def test_each_dated_table_has_a_rule_or_a_reason(metadata: MetaData, policy: ModuleType) -> None:
    dated = {
        table.name
        for table in metadata.tables.values()
        if any(isinstance(column.type, UtcMs) for column in table.columns)
    }
    ruled = [rule.table for rule in policy.RULES]
    timed = [rule.table for rule in policy.RULES if rule.period is not None]
    assert len(set(timed)) == len(timed), "one time rule for each table"
    assert set(ruled) & policy.PERMANENT.keys() == set()
    assert set(ruled) | policy.PERMANENT.keys() == dated
    assert all(policy.PERMANENT.values())


@SERVICES
def test_each_rule_has_a_period(metadata: MetaData, policy: ModuleType) -> None:
    assert all(rule.days > 0 for rule in policy.RULES if rule.period is not None)
    others = [rule.table for rule in policy.RULES if rule.period is None]
    assert others in (["message", "event"], ["chain_block"]), "rules without a period"


def test_each_period_has_a_variable_with_its_default() -> None:
    described = {line.variable: line for line in Settings().describe({})}
    for policy in (chat, payment):
        for rule in policy.RULES:
            if rule.period is not None:
                line = described[f"SPECD_{rule.period.upper()}_RETENTION_S"]
                assert line.value == line.default == str(rule.days * 86_400)
                assert rule.retention(Settings()) == timedelta(days=rule.days)


def test_variable_changes_the_period() -> None:
    settings = Settings.from_env({"SPECD_PAYMENT_EVENT_RETENTION_S": "60"})
    kept_for = {rule.table: rule.retention(settings) for rule in payment.RULES}
    assert kept_for["webhook_attempt"] == kept_for["event"] == timedelta(minutes=1)
    assert kept_for["checkout_session"] == timedelta(days=1)
    with pytest.raises(SettingsError, match="whole number from 1 to 315360000"):
        Settings.from_env({"SPECD_PAYMENT_EVENT_RETENTION_S": "0"})
    with pytest.raises(SettingsError, match="did you mean SPECD_PAYMENT_EVENT_RETENTION_S"):
        Settings.from_env({"SPECD_PAYMENT_EVENTS_RETENTION_S": "60"})
