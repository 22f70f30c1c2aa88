"""The rooms of the house: no import points up, each package stands on its floor."""

import pytest

from tests.house.rooms import FLOORS, rooms_of, upward


@pytest.mark.parametrize("package", FLOORS)
def test_no_import_points_up(package: str) -> None:
    assert upward(rooms_of(package)) == []
