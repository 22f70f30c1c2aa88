"""The rooms of the house: no import points up, none is too large."""

import pytest

from tests.house.rooms import (
    FLOORS,
    ROOM_LINES,
    SHIPPED,
    long_functions,
    long_modules,
    rooms_of,
    sources,
    upward,
)


@pytest.mark.parametrize("package", FLOORS)
def test_no_import_points_up(package: str) -> None:
    assert upward(rooms_of(package)) == []


@pytest.mark.parametrize("package", FLOORS)
def test_no_room_is_too_large(package: str) -> None:
    rooms = rooms_of(package).values()
    assert [(room.name, room.lines) for room in rooms if room.lines > ROOM_LINES] == []


def test_no_module_is_too_long() -> None:
    assert long_modules(sources(*SHIPPED)) == []


def test_no_function_is_too_long() -> None:
    assert long_functions(sources(*SHIPPED)) == []
