"""What is kept for ever is so by a decision, and whatever is not has a rule that takes it away."""

import pytest
from sqlalchemy import MetaData

import models.chat.tables
import models.payment.tables  # noqa: F401
from models.chat.base import ChatBase
from models.chat.retention import POLICY as CHAT
from models.payment.base import PaymentBase
from models.payment.retention import POLICY as PAYMENT
from settings import RETENTIONS
from specd.db import Policy, UtcMs

SERVICES = pytest.mark.parametrize(
    ("metadata", "policy"),
    [(PaymentBase.metadata, PAYMENT), (ChatBase.metadata, CHAT)],
    ids=["payment", "chat"],
)


@SERVICES
def test_each_table_that_knows_a_time_is_forgotten_or_kept_for_a_reason(
    metadata: MetaData, policy: Policy
) -> None:
    dated = {
        table.name
        for table in metadata.tables.values()
        if any(isinstance(column.type, UtcMs) for column in table.columns)
    }
    ruled = [rule.table for rule in policy.rules]
    timed = [rule.table for rule in policy.rules if rule.setting is not None]
    assert len(set(timed)) == len(timed), "one rule by time per table"
    assert set(ruled) & policy.permanent.keys() == set()
    assert set(ruled) | policy.permanent.keys() == dated
    assert all(policy.permanent.values())


@SERVICES
def test_each_rule_has_a_setting(metadata: MetaData, policy: Policy) -> None:
    named = {rule.setting for rule in policy.rules if rule.setting is not None}
    assert named <= RETENTIONS.keys()
    others = [rule.table for rule in policy.rules if rule.setting is None]
    assert others in (["message", "event"], ["chain_block"]), "rules by another measure"


def test_each_setting_of_retention_is_used() -> None:
    named = {rule.setting for policy in (CHAT, PAYMENT) for rule in policy.rules if rule.setting}
    others = {"chat_export", "chat_detached_upload"}
    assert RETENTIONS.keys() - named == others, "those are the workers exports' and uploads'"
