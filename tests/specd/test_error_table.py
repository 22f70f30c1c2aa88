"""The default table of errors, and changes by the table of a service."""

import json
from typing import Any

import pytest
from connexion.exceptions import ProblemException

from specd import ErrorTable, Refusal
from specd._engine import errors as engine
from specd._error_table import Row
from specd.errors import DatabaseUnavailable


class NoSuchThing(Refusal):
    """The thing is unknown."""

    status, code, sentence = 404, "no_such_thing", "There is no thing {id}."
    advice = "List the things."


class NoSuchPart(NoSuchThing):
    """The part is unknown."""


class ForOperators(Refusal):
    code, sentence = "for_operators", "No."


ENGINE = [
    engine.InvalidRequest([engine.Violation("/body/a", "is too long")]),
    engine.Unauthenticated(("Bearer",)),
    engine.InsufficientScope(("write",)),
    engine.ForeignOrigin(),
    engine.NotFound(),
    engine.MethodNotAllowed(("GET",)),
    engine.RequestTimeout(15),
    engine.BodyTooLarge(100),
    engine.TargetTooLong(100),
    engine.UnsupportedMediaType(("application/json",)),
    engine.RateLimited(limit=1, retry_after_s=7),
    engine.HeadersTooLarge(100),
    engine.InternalError(),
]


def body(table: ErrorTable, error: Exception) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(table.respond(error, "abc").body)
    return found


class TestDefault:
    def test_responds_to_refusals(self) -> None:
        response = ErrorTable().respond(NoSuchThing(id=7), "abc")
        assert response.status == 404
        assert json.loads(response.body) == {
            "code": "no_such_thing",
            "message": "There is no thing 7.",
            "request_id": "abc",
            "details": [],
        }

    @pytest.mark.parametrize("error", ENGINE, ids=lambda error: type(error).__name__)
    def test_responds_to_errors_of_the_engine(self, error: Any) -> None:
        response = ErrorTable().respond(error, "abc")
        assert response.status == error.status
        assert json.loads(response.body)["code"] == error.code

    def test_all_errors_of_the_engine_are_tested(self) -> None:
        assert {*map(type, ENGINE), engine.NotWritten} == set(engine.ENGINE_ERRORS)

    def test_names_the_violations(self) -> None:
        assert body(ErrorTable(), ENGINE[0])["details"] == [
            {"path": "/body/a", "message": "is too long"}
        ]

    @pytest.mark.parametrize(
        ("error", "header"),
        [
            (ENGINE[1], ("WWW-Authenticate", "Bearer")),
            (engine.MethodNotAllowed(("GET", "PUT")), ("Allow", "GET, PUT")),
            (engine.RateLimited(limit=1, retry_after_s=7), ("Retry-After", "7")),
            (DatabaseUnavailable(), ("Retry-After", "1")),
        ],
    )
    def test_sends_the_headers_of_http(self, error: Exception, header: tuple[str, str]) -> None:
        assert header in ErrorTable().respond(error, "abc").headers

    @pytest.mark.parametrize("error", [ValueError("secret"), ForOperators()])
    def test_other_errors_are_bugs(self, error: Exception) -> None:
        response = ErrorTable().respond(error, "abc")
        assert response.status == 500
        assert b"secret" not in response.body

    def test_handler_that_is_not_written_gives_501(self) -> None:
        assert ErrorTable().respond(NotImplementedError(), "abc").status == 501

    def test_problem_of_connexion_is_mapped_by_its_status(self) -> None:
        assert body(ErrorTable(), ProblemException(status=404))["code"] == "not_found"


class TestRows:
    def test_can_change_a_code_of_the_engine(self) -> None:
        table = ErrorTable({"body_too_large": Row(400, code="big", sentence="At most {limit}.")})
        response = table.respond(engine.BodyTooLarge(100), "abc")
        assert response.status == 400
        assert json.loads(response.body)["code"] == "big"
        assert json.loads(response.body)["message"] == "At most 100."

    def test_apply_to_subclasses(self) -> None:
        table = ErrorTable({NoSuchThing: Row(410, extra=("id",))})
        assert table.respond(NoSuchPart(id=7), "abc").status == 410
        assert body(table, NoSuchPart(id=7))["id"] == 7

    def test_can_add_a_detail(self) -> None:
        table = ErrorTable(
            {"no_such_thing": Row(at=("/path/id", "{id} is unknown"), shown=("id",))}
        )
        assert body(table, NoSuchThing(id=7))["details"] == [
            {"path": "/path/id", "message": "7 is unknown", "id": "7"}
        ]

    def test_internal_errors_have_none(self) -> None:
        table = ErrorTable({"no_such_thing": None})
        assert table.respond(NoSuchThing(id=7), "abc").status == 500
        assert "no_such_thing" not in {f.code for f in table.list_failures((__name__,))}


def test_responses_link_to_the_page_of_errors() -> None:
    table = ErrorTable(service="things")
    link = ("Link", '</docs/things/errors#no_such_thing>; rel="help"')
    assert link in table.respond(NoSuchThing(id=1), "abc").headers


def test_page_of_errors_has_the_errors_of_the_service() -> None:
    failures = {each.code: each for each in ErrorTable().list_failures((__name__,))}
    assert failures["no_such_thing"].when == "The part is unknown."
    assert failures["no_such_thing"].advice == "List the things."
    assert failures["invalid_request"].status == 400
    assert "for_operators" not in failures


def _document(*schemas: Any, media_type: str = "application/json") -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "paths": {
            f"/{number}": {
                "get": {
                    "operationId": f"get_{number}",
                    "responses": {"default": {"content": {media_type: {"schema": schema}}}},
                }
            }
            for number, schema in enumerate(schemas)
        },
    }


def _of(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


class TestBodies:
    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            (
                _of(code=TEXT, message=TEXT),
                {"code": "no_such_thing", "message": "There is no thing 7."},
            ),
            (
                _of(code=TEXT, message=TEXT, request_id=TEXT),
                {
                    "code": "no_such_thing",
                    "message": "There is no thing 7.",
                    "request_id": "abc",
                },
            ),
            (_of(code=NUMBER, message=TEXT), {"code": 404, "message": "There is no thing 7."}),
            (
                _of(error=_of(code=TEXT, message=TEXT)),
                {"error": {"code": "no_such_thing", "message": "There is no thing 7."}},
            ),
            (
                _of(error=TEXT, message=TEXT),
                {"error": "no_such_thing", "message": "There is no thing 7."},
            ),
            (_of(detail=TEXT), {"detail": "There is no thing 7."}),
            (
                _of(type=TEXT, title=TEXT, status=NUMBER, detail=TEXT),
                {
                    "type": "about:blank",
                    "title": "no_such_thing",
                    "status": 404,
                    "detail": "There is no thing 7.",
                },
            ),
        ],
    )
    def test_are_those_of_the_document(self, schema: Any, expected: dict[str, Any]) -> None:
        table = ErrorTable().fitted_to(_document(schema))
        assert body(table, NoSuchThing(id=7)) == expected

    def test_have_only_the_properties_of_an_open_schema(self) -> None:
        schema = {"type": "object", "properties": {"code": TEXT, "message": TEXT}}
        table = ErrorTable().fitted_to(_document(schema))
        assert set(body(table, NoSuchThing(id=7))) == {"code", "message"}

    @pytest.mark.parametrize("status", [{}, {"status": {"enum": ["placed", "delivered"]}}])
    def test_are_complete_if_the_schema_is_not_for_errors(self, status: dict[str, Any]) -> None:
        """For example the schema of a `default` for responses of every status."""
        order = {"type": "object", "properties": {"id": NUMBER, "name": TEXT}}
        table = ErrorTable().fitted_to(_document(order))
        assert set(body(table, NoSuchThing(id=7))) == {"code", "message", "request_id", "details"}
        closed = _of(code=TEXT, message=TEXT)
        order["properties"] |= status
        table = ErrorTable().fitted_to(_document(closed, order))
        assert set(body(table, NoSuchThing(id=7))) == {"code", "message"}

    def test_have_the_most_frequent_format(self) -> None:
        odd, usual = _of(detail=TEXT), _of(code=TEXT, message=TEXT)
        other = {**usual, "description": "Another schema of the same errors."}
        table = ErrorTable().fitted_to(_document(odd, usual, other))
        assert set(body(table, NoSuchThing(id=7))) == {"code", "message"}

    def test_have_the_media_type_of_the_document(self) -> None:
        problem = "application/problem+json"
        table = ErrorTable().fitted_to(_document(_of(detail=TEXT), media_type=problem))
        assert table.respond(NoSuchThing(id=7), "abc").media_type == problem

    def test_can_be_written_by_the_service(self) -> None:
        def write(answer: Any) -> Any:
            return answer

        table = ErrorTable(write=write)
        assert table.fitted_to(_document(_of(detail=TEXT))) is table
        answer: Any = table.respond(NoSuchThing(id=7), "abc")
        assert answer.message == "There is no thing 7."
