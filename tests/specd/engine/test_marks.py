"""`readOnly`, `writeOnly` and `required` apply at every place that describes a property."""

from typing import Any

import pytest

from specd._engine.document.marks import Marks
from specd._engine.document.schemas import Schemas
from specd._engine.mocking.values import Values

MARK = {"type": "integer", "readOnly": True}
MARKED = {"type": "object", "properties": {"id": MARK, "name": {"type": "string"}}}
NEEDS = {"required": ["id", "name"]}
OF_REFERENCE = {"id": {"$ref": "#/components/schemas/Id"}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


SHARED = {
    "Id": MARK,
    "Further": _ref("Id"),
    "Base": MARKED,
    "Needs": NEEDS,
    "NeedsDeep": {"allOf": [_ref("Needs")]},
    "Tree": {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            **MARKED["properties"],
            "below": {"type": "array", "items": _ref("Tree")},
        },
    },
}
CASES: dict[str, dict[str, Any]] = {
    "own": {**MARKED, **NEEDS},
    "behind": {**NEEDS, "properties": OF_REFERENCE},
    "behind two": {**NEEDS, "properties": {"id": _ref("Further")}},
    "in an allOf": {**NEEDS, "properties": {"id": {"allOf": [_ref("Id"), {"minimum": 1}]}}},
    "needed in another part": {"allOf": [_ref("Base"), NEEDS]},
    "needed behind a reference": {"allOf": [_ref("Base"), _ref("Needs")]},
    "needed behind two": {"allOf": [_ref("NeedsDeep"), _ref("Base")]},
    "needed around": {"allOf": [_ref("Base")], **NEEDS},
    "needed in a branch": {"allOf": [_ref("Base")], "oneOf": [NEEDS, {"required": ["x"]}]},
    "marked in all branches": {**NEEDS, "anyOf": [MARKED, _ref("Base")]},
    "recursive": _ref("Tree"),
}
OF_3_1 = {
    "next to a reference": {**_ref("Base"), **NEEDS},
    "in the target of a reference with siblings": {**_ref("Needs"), **MARKED},
    "if": {"allOf": [_ref("Base")], "if": {}, "then": NEEDS},
    "needed by another": {**MARKED, "dependentRequired": {"name": ["id"]}, "required": ["name"]},
}
GIVEN = [("3.0.3", name, case) for name, case in CASES.items()]
GIVEN += [("3.1.0", name, case) for name, case in (CASES | OF_3_1).items()]


def _document(version: str, shared: dict[str, Any] = SHARED) -> dict[str, Any]:
    return {"openapi": version, "components": {"schemas": shared}}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_marked_property_is_neither_required_nor_accepted(version: str) -> None:
    requests = Schemas(_document(version), drop="readOnly")
    answers = Schemas(_document(version), drop="writeOnly")
    cases = [(name, case) for of, name, case in GIVEN if of == version]
    checks = [(n, requests.compile(c, n), answers.compile(c, n)) for n, c in cases]
    for name, of_request, of_answer in checks:
        assert not of_request({"name": "n"}, ""), name
        assert of_request({"name": "n", "id": 1}, ""), name
        assert of_request({}, ""), name
        assert of_answer({"name": "n"}, ""), name
        assert not of_answer({"name": "n", "id": 1}, ""), name


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_mocks_create_values_without_marked_properties(version: str) -> None:
    values = Values(_document(version), drop="readOnly")
    for of, name, case in GIVEN:
        if of == version and name not in ("needed in a branch", "if"):
            made = values.example({**case, "type": "object"} if "$ref" not in case else case)
            assert "id" not in made, name


def test_property_marked_in_only_one_branch_is_required() -> None:
    schema = {"oneOf": [{**MARKED, **NEEDS}, {"properties": {"id": {"enum": [7]}}, **NEEDS}]}
    check = Schemas(_document("3.1.0"), drop="readOnly").compile(schema, "")
    assert not check({"name": "n"}, "")
    assert not check({"name": "n", "id": 7}, "")
    assert check({"id": 8, "name": "n"}, "")


DEPTH = 60


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("is_behind", [True, False])
def test_schemas_that_repeat_another_are_read_once(
    version: str, keyword: str, is_behind: bool
) -> None:
    """Each of `DEPTH` levels has the next one twice, so it has 2**60 paths."""
    shared: dict[str, Any] = {"Level0": {**MARKED, **NEEDS}}
    for level in range(1, DEPTH):
        inner = _ref(f"Level{level - 1}") if is_behind else shared[f"Level{level - 1}"]
        shared[f"Level{level}"] = {keyword: [inner, inner]}
    marks = Marks(_document(version, shared), "readOnly", is_3_0=version < "3.1")
    top = shared[f"Level{DEPTH - 1}"]
    assert marks.hidden(top) == {"id"}
    assert marks.hidden({**top, "properties": {"other": MARK}}) == {"id", "other"}
    assert marks.are_needed(top, frozenset(("id",)))
    assert not marks.are_needed(top, frozenset(("unknown",)))
    assert not marks.is_marked(top)
    shared["Level0"]["readOnly"] = True
    assert marks.is_marked(top) is (keyword == "allOf")


def test_circles_of_schemas_end() -> None:
    shared = {
        "A": {"allOf": [_ref("B"), _ref("A")], "properties": {"a": MARK}},
        "B": {"anyOf": [_ref("A"), _ref("C")], "properties": {"b": MARK}},
        "C": {"oneOf": [_ref("C"), _ref("B")], "properties": {"c": MARK}},
        "D": {"anyOf": [_ref("D")]},
    }
    for order in (("A", "B", "C", "D"), ("D", "C", "B", "A")):
        marks = Marks(_document("3.1.0", shared), "readOnly", is_3_0=False)
        found = {name: marks.hidden(shared[name]) for name in order}
        assert found == {"A": {"a", "b"}, "B": {"b"}, "C": {"c"}, "D": frozenset()}
        assert not marks.are_needed(shared["A"], frozenset("a"))
