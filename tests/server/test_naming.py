"""Which function handles an operation."""

from typing import Any

import pytest

from server.openapi.naming import handler_of, operation_id_of


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
        ({"operationId": "api.pets.search", "tags": ["pets"]}, "api.pets.search"),
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
def test_where_it_is(operation: dict[str, Any], expected: str) -> None:
    assert str(handler_of("h", "/pets/{id}/food", "get", operation)) == expected


def test_the_root_has_a_name() -> None:
    assert operation_id_of("/", "GET", {}) == "get"
