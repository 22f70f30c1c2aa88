"""The input of Prism: a document in a form that it understands, and invalid responses."""

from __future__ import annotations

import json

from tests.contract.prism.controls import controls
from tests.contract.prism.exchanges import Exchange
from tests.contract.prism.forms import Forms
from tests.contract.prism.reading import for_prism
from tests.support.served import served


def test_null_is_removed_from_the_enumerations_to_which_prism_adds_it() -> None:
    nullable = {"type": "string", "nullable": True, "enum": ["gone", None]}
    schema = {"enum": ["gone", None], "properties": {"nullable": {"enum": [None]}}}
    assert for_prism({"a": [nullable], "b": schema}) == {
        "a": [{"type": "string", "nullable": True, "enum": ["gone"]}],
        "b": schema,
    }


def test_each_operation_and_status_has_one_control() -> None:
    def answer(target: str, status: int, body: bytes) -> Exchange:
        return Exchange("GET", target, [], b"", status, [], body)

    told = [
        answer("/v1/events?limit=1", 200, b'{"data": []}'),
        answer("/v1/events", 200, b'{"data": [1]}'),
        answer("/v1/events", 401, b'{"code": "x"}'),
        answer("/v1/events/evt_1", 200, b'{"id": 1}'),
        answer("/v1/openapi.yaml", 200, b"{}"),
        answer("/v1/invoices", 200, b"no object"),
    ]
    broken = controls(served("payment"), "", told)
    assert [(one.target, one.status, one.response_body) for one in broken] == [
        ("/v1/events?limit=1", 200, b"[]\n"),
        ("/v1/events", 401, b"[]\n"),
        ("/v1/events/evt_1", 200, b"[]\n"),
    ]


def test_form_is_read_like_by_the_service() -> None:
    forms = Forms(served("chat"))
    form = b"event_types=null&fetch_event_types=message&all_public_streams=true&method=POST"
    assert json.loads(forms.as_json("POST", "/register", form) or b"") == {
        "event_types": None,
        "fetch_event_types": ["message"],
        "all_public_streams": True,
    }
    assert forms.as_json("GET", "/register", form) is None
