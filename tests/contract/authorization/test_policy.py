"""Every operation of both documents, as every actor, behaves as listed in permissions.yaml."""

import httpx
import pytest
import yaml

from tests.contract.authorization.chat_stage import ChatStage
from tests.contract.authorization.payment_stage import PaymentStage
from tests.contract.authorization.policy import ALLOWED, PERMISSIONS, Case, load, worded
from tests.contract.authorization.table import PERMISSIONS_PAGE, rendered
from tests.support.contract import operations_of
from tests.support.served import served

PAYMENT, CHAT = load("payment"), load("chat")


def answer_of(response: httpx.Response) -> tuple[int, str]:
    """Return the parts of a response by which refusals are recognized: the status, and the code or
    the text.
    """
    body = response.json()
    return response.status_code, body.get("msg", body.get("code", ""))


@pytest.mark.parametrize("case", CHAT.cases, ids=lambda case: case.name)
def test_chat_follows_the_policy(case: Case, chat_stage: ChatStage) -> None:
    chat_stage.forget()
    unexpected = {}
    for actor, expected in case.cells.items():
        response = chat_stage.try_out(case, actor)
        if expected == ALLOWED:
            if not response.is_success:
                unexpected[actor] = (expected, answer_of(response))
            continue
        status, text = CHAT.refusals[expected]
        text = worded(text, chat_stage.things_of(actor))
        if answer_of(response) != (status, text):
            unexpected[actor] = (expected, answer_of(response))
    assert unexpected == {}


@pytest.mark.parametrize("case", PAYMENT.cases, ids=lambda case: case.name)
def test_payment_follows_the_policy(case: Case, shop: PaymentStage) -> None:
    unexpected = {}
    for actor, expected in case.cells.items():
        response = shop.answer(case, actor)
        if expected == ALLOWED:
            is_expected = response.is_success
        else:
            code = response.json().get("code")
            is_expected = (response.status_code, code) == PAYMENT.refusals[expected]
        if not is_expected:
            unexpected[actor] = (expected, response.status_code, response.text)
    assert unexpected == {}


@pytest.mark.parametrize("policy", [PAYMENT, CHAT], ids=["payment", "chat"])
def test_every_operation_has_a_case(policy: object) -> None:
    assert policy in (PAYMENT, CHAT)
    chosen = PAYMENT if policy is PAYMENT else CHAT
    operations = set(operations_of(served(chosen.service)))
    assert {case.operation for case in chosen.cases} == operations


def names_given_twice(node: yaml.Node | None) -> list[str]:
    """Return the keys that occur twice in a mapping of a YAML document. Readers silently keep the
    last.
    """
    if isinstance(node, yaml.SequenceNode):
        return [name for item in node.value for name in names_given_twice(item)]
    if not isinstance(node, yaml.MappingNode):
        return []
    names = [key.value for key, _ in node.value]
    inner = [name for _, item in node.value for name in names_given_twice(item)]
    return [*(name for name in set(names) if names.count(name) > 1), *inner]


def test_names_are_unique() -> None:
    assert names_given_twice(yaml.compose("{a: 1, b: [{c: 1, c: 2}]}")) == ["c"]
    assert names_given_twice(yaml.compose(PERMISSIONS.read_text())) == []


def test_page_matches_the_policy() -> None:
    assert PERMISSIONS_PAGE.read_text() == rendered(), "run scripts/permissions-table"
