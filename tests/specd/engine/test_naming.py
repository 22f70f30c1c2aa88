"""The function that handles an operation."""

from typing import Any

import pytest

from specd._engine.openapi.naming import handler_of, handlers_of, operation_id_of


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"operationId": "list_pets", "tags": ["pets"]}, "h.pets.list_pets"),
        ({"operationId": "list_pets", "tags": ["pets", "old"]}, "h.pets.list_pets"),
        ({"operationId": "list-pets", "tags": ["Pet Store"]}, "h.pet_store.list_pets"),
        ({"operationId": "list_pets"}, "h.operations.list_pets"),
        ({"operationId": "class", "tags": ["1st"]}, "h._1st._class"),
        ({"tags": ["pets"]}, "h.pets.get_pets_id_food"),
        ({}, "h.operations.get_pets_id_food"),
        ({"operationId": "api.pets.search", "tags": ["pets"]}, "h.api.pets.search"),
        ({"operationId": "h.pets.search"}, "h.pets.search"),
        ({"operationId": "settings.get"}, "h.settings.get"),
        ({"operationId": "get-api.v1-users.list"}, "h.get_api.v1_users.list_"),
        ({"operationId": "..//x..y"}, "h.x.y"),
        ({"operationId": "../../x"}, "h.operations.x"),
        ({"operationId": "repos/get", "tags": ["repos"]}, "h.repos.repos_get"),
        ({"operationId": "list"}, "h.operations.list_"),
        ({"operationId": "Context"}, "h.operations.Context_"),
        ({"operationId": "получить", "tags": ["Книги"]}, "h.книги.получить"),
        ({"operationId": "页-码"}, "h.operations.页_码"),
        ({"operationId": "ﬁnd"}, "h.operations.find"),
        ({"operationId": "é², e"}, "h.operations.é2_e"),
        ({"operationId": "🎉"}, "h.operations._"),
        (
            {"operationId": "search", "x-openapi-router-controller": "api.pets", "tags": ["pets"]},
            "api.pets.search",
        ),
        (
            {"operationId": "Pets.search", "x-openapi-router-controller": "api.pets"},
            "api.pets.Pets.search",
        ),
    ],
)
def test_handler_is_found_by_tag_and_id(operation: dict[str, Any], expected: str) -> None:
    assert str(handler_of("h", "/pets/{id}/food", "get", operation)) == expected


def test_root_path_has_a_name() -> None:
    assert operation_id_of("/", "GET", {}) == "get"


@pytest.mark.parametrize(
    ("ids", "functions"),
    [
        (["get-user", "get_user", "get user"], ["get_user", "get_user_2", "get_user_3"]),
        (["a-b", "a_b", "a_b_2"], ["a_b", "a_b_3", "a_b_2"]),
        (["list", "list_"], ["list_", "list__2"]),
        (["e\u0301", "é"], ["é", "é_2"]),
        (["🎉", "🎂"], ["_", "__2"]),
    ],
)
def test_each_operation_has_its_own_function(ids: list[str], functions: list[str]) -> None:
    operations = [(f"/{n}", "get", {"operationId": name}) for n, name in enumerate(ids)]
    found = handlers_of("h", operations)
    assert [each.function for each in found.values()] == functions
    assert all(name.isidentifier() for name in functions)


def test_tags_of_one_module_share_its_names() -> None:
    tags = [("/a", "get", {"operationId": "get-it", "tags": ["Users"]})]
    tags += [("/b", "get", {"operationId": "get_it", "tags": ["users"]})]
    assert list(map(str, handlers_of("h", tags).values())) == ["h.users.get_it", "h.users.get_it_2"]


@pytest.mark.parametrize(
    ("operation_id", "function"),
    [
        ("Login", "login"),
        ("getUserByID", "get_user_by_id"),
        ("HTTPStatus", "http_status"),
        ("list_pets", "list_pets"),
        ("list-Pets", "list_pets"),
        ("v2Search", "v2_search"),
        ("List", "list_"),
        ("Class", "_class"),
        ("Users.GetOne", "get_one"),
    ],
)
def test_names_are_converted_to_snake_case(operation_id: str, function: str) -> None:
    operation = {"operationId": operation_id}
    assert handler_of("h", "/a", "get", operation, snake_case=True).function == function


def test_names_equal_in_snake_case_are_numbered() -> None:
    operations = [("/a", "get", {"operationId": "getA"}), ("/b", "get", {"operationId": "GetA"})]
    found = handlers_of("h", operations, snake_case=True)
    assert [name.function for name in found.values()] == ["get_a", "get_a_2"]
