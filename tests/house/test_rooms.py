"""The rooms of the house: no import points up, none is too large."""

import pytest

from tests.house.rooms import FLOORS, ROOM_LINES, rooms_of, upward


@pytest.mark.parametrize("package", FLOORS)
def test_no_import_points_up(package: str) -> None:
    assert upward(rooms_of(package)) == []


@pytest.mark.parametrize("package", FLOORS)
def test_no_room_is_too_large(package: str) -> None:
    rooms = rooms_of(package).values()
    assert [(room.name, room.lines) for room in rooms if room.lines > ROOM_LINES] == []
