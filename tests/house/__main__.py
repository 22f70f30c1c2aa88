"""`python -m tests.house`: the rooms, their floors and sizes, and what has grown too large.

`python -m tests.house walks`: the files that a reader opens for ten requests.
"""

import sys

from tests.house import walks
from tests.house.rooms import FLOORS, rooms_of, upward


def main() -> int:
    wrong = []
    for package in FLOORS:
        rooms = rooms_of(package)
        print(f"{package}\n{'floor':>5} {'room':14} {'modules':>7} {'lines':>6}  imports")
        for room in rooms.values():
            arrows = ", ".join(sorted(room.imports)) or "-"
            print(f"{room.floor:5} {room.name:14} {room.modules:7} {room.lines:6}  {arrows}")
        wrong += upward(rooms)
        print()
    print(f"arrows that point up: {len(wrong)}", *wrong, sep="\n    ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(walks.main() if sys.argv[1:] == ["walks"] else main())
